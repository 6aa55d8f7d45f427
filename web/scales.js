// Places on a time axis.

const stepsMs = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
  43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000].map((s) => s * 1000);

// About `wanted` places that fall on whole seconds, minutes, hours or days of the reader's clock.
export function timeTicks(lowMs, highMs, wanted) {
  const rough = (highMs - lowMs) / Math.max(1, wanted);
  const stepMs = stepsMs.find((each) => each >= rough) ?? stepsMs.at(-1);
  const zoneMs = new Date(highMs).getTimezoneOffset() * 60000;
  const first = Math.ceil((lowMs - zoneMs) / stepMs) * stepMs + zoneMs;
  const ticks = [];
  for (let at = first; at <= highMs; at += stepMs) {
    ticks.push({ value: at, label: timeLabel(at, stepMs) });
  }
  return ticks;
}

function timeLabel(atMs, stepMs) {
  const at = new Date(atMs);
  if (stepMs >= 86400000) return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const shown = { hour: '2-digit', minute: '2-digit' };
  if (stepMs < 60000) shown.second = '2-digit';
  return at.toLocaleTimeString('en-GB', shown);
}
