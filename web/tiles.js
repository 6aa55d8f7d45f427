// The dashboard's headline numbers: what is true now, against the model's first day.

import { element } from './dom.js';
import { count, decimal, difference, percent } from './format.js';

const kRecentImpressions = 1000;

// What the latest buckets say: as many as hold `wanted` impressions, or all there are.
export function recent(points, wanted = kRecentImpressions) {
  const sum = { impressions: 0, clicked: 0, clicks: 0, reciprocal: 0, entropy: 0 };
  for (let at = points.length - 1; at >= 0 && sum.impressions < wanted; at -= 1) {
    const point = points[at];
    sum.impressions += point.impressions;
    sum.clicked += point.clicked;
    sum.clicks += point.clicks;
    sum.reciprocal += (point.mrr ?? 0) * point.clicked;
    sum.entropy += (point.entropy ?? 0) * point.impressions;
  }
  const mean = (total, over) => (over > 0 ? total / over : null);
  return {
    impressions: sum.impressions,
    ctr: mean(sum.clicked, sum.impressions),
    mrr: mean(sum.reciprocal, sum.clicked),
    entropy: mean(sum.entropy, sum.impressions),
  };
}

const points_of_percent = (value) => `${(100 * value).toFixed(1)} points`;

function against_first_day(now, first, write, write_change) {
  const change = difference(now, first, write_change);
  const level = !/[1-9]/.test(change);
  const direction = level ? 'level' : now > first ? 'up' : 'down';
  return [
    change && element('span', { class: `change ${direction}` }, change),
    element('span', {}, `first day ${write(first)}`),
  ];
}

function tile({ id, name, value, details }) {
  return element('div', { class: 'card tile', 'data-tile': id },
    element('dt', {}, name),
    element('dd', { class: 'tile-value', id: `tile-${id}` }, value),
    element('dd', { class: 'tile-details' },
      ...details.filter(Boolean).map((part) =>
        (typeof part === 'string' ? element('span', {}, part) : part))));
}

export function draw_tiles(list, model, stats) {
  const now = recent(stats.points);
  const window_note = `over the last ${count(now.impressions)} impressions`;
  list.replaceChildren(
    tile({ id: 'impressions', name: 'Impressions', value: count(model.impressions),
      details: [`${count(model.open)} wait for feedback`] }),
    tile({ id: 'ctr', name: 'Click-through rate', value: percent(now.ctr),
      details: [...against_first_day(now.ctr, stats.first_day.ctr, percent, points_of_percent),
        `${count(stats.total.clicks)} clicks in all`] }),
    tile({ id: 'mrr', name: 'MRR of clicks', value: decimal(now.mrr, 3),
      details: [...against_first_day(now.mrr, stats.first_day.mrr,
        (value) => decimal(value, 3), (value) => value.toFixed(3))] }),
    tile({ id: 'entropy', name: 'Entropy', value: decimal(now.entropy),
      details: [now.entropy === null ? null
        : `${Math.exp(now.entropy).toFixed(1)} effective choices for first place`] }),
    tile({ id: 'updates', name: 'Updates', value: count(model.updates),
      details: [`version ${count(model.version)}`,
        `learned from ${count(model.learned)} impressions`] }),
    tile({ id: 'learning', name: 'Learning', value: model.learning ? 'On' : 'Frozen',
      details: [model.learning ? `step size ${model.learning_rate}`
        : model.frozen_because === 'asked' ? 'on request' : model.frozen_because] }));
  list.title = window_note;
}
