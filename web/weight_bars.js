// Weights as bars left and right of zero; strengths, which have no sign, as bars from the left.
// Rows stay in place between updates, so that a change is seen as movement.

import { element, setText, showRows } from './dom.js';
import { decimal } from './format.js';

function makeRow(key, label) {
  const fill = element('span.bar-fill');
  const wanted = element('span.bar-wanted', { hidden: true });
  const value = element('span.bar-value');
  const row = element('li.bar-row', { 'data-feature': key },
    element('span.bar-name', { title: label }, label),
    element('span.bar-track', fill, wanted), value);
  return { row, fill, wanted, value };
}

export class WeightBars {
  constructor(list) {
    this.list = list;
    this.rows = new Map();
    list.classList.add('bars');
  }

  // entries: [{key, label, value, wanted}] in the order to show; `wanted`, if given, is marked
  // on the same scale. signed: whether zero is in the middle. reach: what fills a side, at least.
  update(entries, { signed = true, reach = 0 } = {}) {
    const largest = Math.max(reach, 1e-9,
      ...entries.map((entry) => Math.max(Math.abs(entry.value), Math.abs(entry.wanted ?? 0))));
    this.list.classList.toggle('bars-signed', signed);
    this.rows = new Map(entries.map((entry) => {
      const parts = this.rows.get(entry.key) ?? makeRow(entry.key, entry.label);
      this.draw(parts, entry, { signed, largest });
      return [entry.key, parts];
    }));
    showRows(this.list, [...this.rows.values()].map(({ row }) => row));
  }

  draw({ row, fill, wanted, value }, entry, { signed, largest }) {
    const side = signed ? 50 : 100;
    const length = side * Math.abs(entry.value) / largest;
    const left = signed ? (entry.value < 0 ? 50 - length : 50) : 0;
    fill.style.left = `${left}%`;
    fill.style.width = `${length}%`;
    fill.classList.toggle('bar-negative', entry.value < 0);
    row.dataset.value = String(entry.value);
    setText(value, decimal(entry.value));
    wanted.hidden = entry.wanted === undefined;
    if (entry.wanted !== undefined) {
      wanted.style.left = `${(signed ? 50 : 0) + side * entry.wanted / largest}%`;
    }
  }
}
