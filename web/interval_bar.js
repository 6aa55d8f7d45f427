// An interval around a value on a line with 0 in the middle, for differences.

import { element } from './dom.js';

// Style attributes are refused by the pages' security policy; properties are not.
function placed(selector, left, width) {
  const made = element(selector);
  made.style.left = `${left}%`;
  if (width !== undefined) made.style.width = `${width}%`;
  return made;
}

// The first: {value, low, high}. reach: the line goes from -reach to reach; what lies beyond is cut
// off. tone: 'better', 'worse' or 'open'. mark: a value with a line of its own, or null. The
// numbers stand beside it in words, so it is hidden from screen readers.
export function intervalBar({ value, low, high }, { reach, tone, mark = null }) {
  const place = (at) => Math.max(0, Math.min(100, 50 + (50 * at) / reach));
  return element(`div.interval.${tone}`, { 'aria-hidden': 'true' },
    element('i.interval-zero'),
    mark !== null && placed('i.interval-mark', place(mark)),
    placed('i.interval-band', place(low), Math.max(place(high) - place(low), 0.6)),
    placed('i.interval-dot', place(value)));
}

// The next 1, 2 or 5 times a power of ten. Requires: above 0.
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((step) => step * power >= 0.999 * value) ?? 10);
}

// A round reach that holds all these intervals.
export const reachOf = (intervals) => roundUp(Math.max(1e-9,
  ...intervals.flatMap(({ low, high }) => [Math.abs(low), Math.abs(high)])));
