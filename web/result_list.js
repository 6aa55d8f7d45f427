// Search results that move to their new places when the order changes.

import { element, motionAllowed, setText, showRows } from './dom.js';
import { count, decimal } from './format.js';
import { thumbnail } from './thumbnails.js';

const moveMs = 550;
const ease = 'cubic-bezier(.2, .8, .2, 1)';

function priceOf(product) {
  const full = product.price / (1 - product.discount);
  return element('span.price', element('b', `\u20ac${product.price.toFixed(2)}`),
    product.discount > 0 && element('s', `\u20ac${full.toFixed(0)}`));
}

function factsOf(product) {
  const days = product.deliveryDays;
  return element('span.facts',
    element('span', `\u2605 ${product.rating.toFixed(1)}`,
      element('span.muted', ` (${count(product.reviews)})`)),
    element('span', days === 1 ? 'tomorrow' : `in ${days} days`),
    !product.in_stock && element('span.warn', 'out of stock'),
    product.ageDays < 60 && element('span.fresh', 'just in'));
}

function makeRow(product, onClick) {
  const rank = element('span.rank');
  const moved = element('span.moved');
  const score = element('span.score', { title: 'score' });
  const row = element('li.result', { 'data-id': product.id },
    element('span.place-now', rank, moved), thumbnail(product),
    element('span.result-text',
      element('button.result-title', { type: 'button', onclick: () => onClick(product.id) },
        product.title),
      element('span.result-about', product.description), factsOf(product)),
    element('span.result-side', priceOf(product), score));
  return { row, rank, moved, score };
}

function movement(before, now) {
  if (before === undefined) return { text: 'new', direction: 'fresh' };
  if (before === now) return { text: '', direction: '' };
  return before > now ? { text: `\u25b2 ${before - now}`, direction: 'up' }
    : { text: `\u25bc ${now - before}`, direction: 'down' };
}

export class ResultList {
  constructor(list, onClick) {
    this.list = list;
    this.onClick = onClick;
    this.rows = new Map();
    this.ranks = new Map();
  }

  // results: [{product, score}] from the top. compared: whether places are told against the list
  // before; a list for another query has nothing to be compared with.
  show(results, { compared }) {
    const tops = new Map([...this.rows].map(([id, { row }]) => [id, row.offsetTop]));
    const rows = new Map();
    const ranks = new Map();
    results.forEach(({ product, score }, place) => {
      const parts = this.rows.get(product.id) ?? makeRow(product, this.onClick);
      const rank = place + 1;
      const { text, direction } = compared ? movement(this.ranks.get(product.id), rank)
        : { text: '', direction: '' };
      setText(parts.rank, String(rank));
      setText(parts.moved, text);
      parts.moved.dataset.direction = direction;
      setText(parts.score, decimal(score, 2));
      parts.row.classList.remove('chosen');
      rows.set(product.id, parts);
      ranks.set(product.id, rank);
    });
    this.rows = rows;
    this.ranks = ranks;
    showRows(this.list, [...rows.values()].map(({ row }) => row));
    if (motionAllowed()) this.animate(tops);
  }

  markChosen(id) {
    this.rows.get(id)?.row.classList.add('chosen');
  }

  animate(tops) {
    for (const [id, { row }] of this.rows) {
      const before = tops.get(id);
      if (before === row.offsetTop) continue;
      const from = before === undefined
        ? { transform: 'scale(.96)', opacity: 0 }
        : { transform: `translateY(${before - row.offsetTop}px)` };
      row.animate([from, { transform: 'none', opacity: 1 }], { duration: moveMs, easing: ease });
    }
  }
}
