// Numbers and times as people read them. null and undefined become a dash.

const dash = '\u2013';
const minus = '\u2212';
export const missing = (value) => value === null || value === undefined || !Number.isFinite(value);
// No sign for what rounds to 0.
const signed = (text, value) => (value < 0 && /[1-9]/.test(text) ? minus : '') + text;

export function count(value) {
  return missing(value) ? dash : Math.round(value).toLocaleString('en');
}

// "1 list", "2,000 lists"; `many`: the plural, if it is not one + s.
export const counted = (value, one, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

export function decimal(value, digits = 2) {
  return missing(value) ? dash : signed(Math.abs(value).toFixed(digits), value);
}

// The same with a sign; none for what rounds to 0.
export function withSign(value, digits) {
  const text = decimal(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

// Three significant digits, without an exponent if that is short.
export function short(value) {
  if (missing(value)) return dash;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1000) return count(value);
  if (size < 0.0005) return signed(size.toExponential(1).replace('-', minus), value);
  return signed(String(Number(size.toPrecision(3))), value);
}

export function percent(value, digits = 1) {
  return missing(value) ? dash : `${(100 * value).toFixed(digits)}\u202f%`;
}

// A relative change with its sign: one digit after the point if it is small.
export function change(value, digits = Math.abs(value) < 0.0995 ? 1 : 0) {
  return missing(value) ? dash : `${withSign(100 * value, digits)}\u202f%`;
}

// How many digits after the point tell multiples of `step` apart.
export function digitsOf(step) {
  let digits = 0;
  for (let size = step; digits < 6 && Math.abs(size - Math.round(size)) > 1e-6 * size; size *= 10) {
    digits += 1;
  }
  return digits;
}

// A relative change with its sign and all its digits.
export const wholePercent = (value) => change(value, digitsOf(Math.abs(100 * value)));

// A span of time in its largest unit that is not far above it.
export function duration(seconds) {
  const units = [['day', 86400, 36 * 3600], ['hour', 3600, 5400], ['minute', 60, 90], ['second', 1, 0]];
  const [name, length] = units.find(([, , least]) => seconds >= least);
  const many = Math.max(1, Math.round(seconds / length));
  return `${count(many)} ${name}${many === 1 ? '' : 's'}`;
}

// The difference of two values, as written by `write`, with its sign; a word if it rounds to 0.
export function difference(now, before, write) {
  if (missing(now) || missing(before)) return '';
  const change = write(Math.abs(now - before));
  if (!/[1-9]/.test(change)) return 'unchanged';
  return (now < before ? minus : '+') + change;
}

export function dateAndTime(atMs) {
  return new Date(atMs).toLocaleString('en-GB', {
    day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit',
  });
}

export function ago(atMs, nowMs = Date.now()) {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 2) return 'just now';
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}
