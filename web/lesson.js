// What one click taught, in a sentence.

import { catalogue } from './catalogue.js';

const names = new Map(catalogue.map((product) => [product.id, product.title.split(',')[0]]));

// shown: the impression as the service tells it after the click on `chosen`. before and after:
// the place of `chosen` in the best order.
export function lessonText(shown, chosen, { before, after }) {
  if (shown.state !== 'learned') return 'Learning is frozen; the click is kept, not learned from.';
  const losers = shown.pairs.filter((pair) => pair.winner === chosen).map((pair) => pair.loser);
  if (losers.length === 0) return 'There was nothing to compare it with.';
  const more = losers.length > 1 ? ` and ${losers.length - 1} more` : '';
  const moved = before === after ? `Its best place stays ${after}.`
    : `Its best place went from ${before} to ${after}.`;
  return `Learned: ${names.get(chosen)} over ${names.get(losers[0])}${more}. ${moved}`;
}
