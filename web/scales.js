// Axes: where the labelled places of a range lie.

// Round values in [low, high], about `wanted` of them, at least `least_step` apart.
// Requires: low < high.
export function round_ticks(low, high, wanted, least_step = 0) {
  const rough = Math.max(least_step, (high - low) / Math.max(1, wanted));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) {
    ticks.push(at * step);
  }
  return ticks;
}

// Widens [low, high] to round values, with some air where everything is one value.
export function round_range(low, high, wanted) {
  if (!(high > low)) {
    const air = Math.abs(low) > 0 ? Math.abs(low) * 0.1 : 1;
    return [low - air, high + air];
  }
  const ticks = round_ticks(low, high, wanted);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : (high - low) / wanted;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

const kSteps_ms = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
  43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000].map((s) => s * 1000);

// Places in time that fall on whole seconds, minutes, hours or days of the reader's clock.
export function time_ticks(low_ms, high_ms, wanted) {
  const rough = (high_ms - low_ms) / Math.max(1, wanted);
  const step = kSteps_ms.find((each) => each >= rough) ?? kSteps_ms.at(-1);
  const zone_ms = new Date(high_ms).getTimezoneOffset() * 60000;
  const ticks = [];
  for (let at = Math.ceil((low_ms - zone_ms) / step) * step + zone_ms; at <= high_ms; at += step) {
    ticks.push(at);
  }
  return { ticks, step_ms: step };
}

export function time_label(at_ms, step_ms) {
  const at = new Date(at_ms);
  if (step_ms >= 86400000) return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const shown = { hour: '2-digit', minute: '2-digit' };
  if (step_ms < 60000) shown.second = '2-digit';
  return at.toLocaleTimeString('en-GB', shown);
}
