// Search results that move to their new places when the order changes.

import { element, motion_allowed, set_text } from './dom.js';
import { count, decimal } from './format.js';
import { thumbnail } from './thumbnails.js';

const kMove_ms = 550;
const kEase = 'cubic-bezier(.2, .8, .2, 1)';

function price_of(product) {
  const full = product.price / (1 - product.discount);
  return element('span', { class: 'price' },
    element('b', {}, `\u20ac${product.price.toFixed(2)}`),
    product.discount > 0 ? element('s', {}, `\u20ac${full.toFixed(0)}`) : null);
}

function facts_of(product) {
  const days = product.delivery_days;
  return element('span', { class: 'facts' },
    element('span', {}, `\u2605 ${product.rating.toFixed(1)}`,
      element('span', { class: 'muted' }, ` (${count(product.reviews)})`)),
    element('span', {}, days === 1 ? 'tomorrow' : `in ${days} days`),
    product.in_stock ? null : element('span', { class: 'warn' }, 'out of stock'),
    product.age_days < 60 ? element('span', { class: 'fresh' }, 'just in') : null);
}

function make_row(product, on_click) {
  const rank = element('span', { class: 'rank' });
  const moved = element('span', { class: 'moved' });
  const score = element('span', { class: 'score', title: 'score' });
  const row = element('li', { class: 'result', 'data-id': product.id },
    element('span', { class: 'place-now' }, rank, moved),
    thumbnail(product),
    element('span', { class: 'result-text' },
      element('button', { type: 'button', class: 'result-title',
        onclick: () => on_click(product.id) }, product.title),
      element('span', { class: 'result-about' }, product.description),
      facts_of(product)),
    element('span', { class: 'result-side' }, price_of(product), score));
  return { row, rank, moved, score };
}

function movement(before, now) {
  if (before === undefined) return { text: 'new', direction: 'fresh' };
  if (before === now) return { text: '', direction: '' };
  return before > now ? { text: `\u25b2 ${before - now}`, direction: 'up' }
    : { text: `\u25bc ${now - before}`, direction: 'down' };
}

export class ResultList {
  constructor(list, on_click) {
    this.list_ = list;
    this.on_click_ = on_click;
    this.rows_ = new Map();
    this.ranks_ = new Map();
  }

  // results: [{product, score}] from the top. compared: whether places are told against the list
  // before; a list for another query has nothing to be compared with.
  show(results, { compared }) {
    const tops = new Map([...this.rows_].map(([id, { row }]) => [id, row.offsetTop]));
    const rows = new Map();
    const ranks = new Map();
    results.forEach(({ product, score }, place) => {
      const parts = this.rows_.get(product.id) ?? make_row(product, this.on_click_);
      const rank = place + 1;
      const { text, direction } = compared ? movement(this.ranks_.get(product.id), rank)
        : { text: '', direction: '' };
      set_text(parts.rank, String(rank));
      set_text(parts.moved, text);
      parts.moved.dataset.direction = direction;
      set_text(parts.score, decimal(score, 2));
      parts.row.classList.remove('chosen');
      rows.set(product.id, parts);
      ranks.set(product.id, rank);
    });
    this.rows_ = rows;
    this.ranks_ = ranks;
    this.list_.replaceChildren(...[...rows.values()].map(({ row }) => row));
    if (motion_allowed()) this.animate_(tops);
  }

  mark_chosen(id) {
    this.rows_.get(id)?.row.classList.add('chosen');
  }

  ids() {
    return [...this.rows_.keys()];
  }

  animate_(tops) {
    for (const [id, { row }] of this.rows_) {
      const before = tops.get(id);
      if (before === row.offsetTop) continue;
      const from = before === undefined
        ? { transform: 'scale(.96)', opacity: 0 }
        : { transform: `translateY(${before - row.offsetTop}px)` };
      row.animate([from, { transform: 'none', opacity: 1 }], { duration: kMove_ms, easing: kEase });
    }
  }
}
