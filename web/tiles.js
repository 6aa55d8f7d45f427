// The dashboard's headline numbers: what is true now, against the model's first day.

import { element } from './dom.js';
import { count, decimal, difference, percent } from './format.js';

const recentImpressions = 1000;

// What the latest buckets say: as many as hold `wanted` impressions, or all there are.
export function recent(points, wanted = recentImpressions) {
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

const pointsOfPercent = (value) => `${(100 * value).toFixed(1)} points`;

function againstFirstDay(now, first, write, writeChange) {
  const change = difference(now, first, writeChange);
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

export function drawTiles(list, model, stats) {
  const now = recent(stats.points);
  const windowNote = `over the last ${count(now.impressions)} impressions`;
  list.replaceChildren(
    tile({ id: 'impressions', name: 'Impressions', value: count(model.impressions),
      details: [`${count(model.open)} wait for feedback`] }),
    tile({ id: 'ctr', name: 'Click-through rate', value: percent(now.ctr),
      details: [...againstFirstDay(now.ctr, stats.first_day.ctr, percent, pointsOfPercent),
        `${count(stats.total.clicks)} clicks in all`] }),
    tile({ id: 'mrr', name: 'MRR of clicks', value: decimal(now.mrr, 3),
      details: [...againstFirstDay(now.mrr, stats.first_day.mrr,
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
  list.title = windowNote;
}
