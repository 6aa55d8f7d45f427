// The dashboard's headline numbers: what is true now, and against the model's first day once that is
// over.

import { element } from './dom.js';
import { count, counted, decimal, difference, percent } from './format.js';

const recentImpressions = 1000;
const dayMs = 24 * 3600 * 1000;

// Whether the model is older than its first day, which it is compared with.
export const hasFirstDay = ({ created_at: createdAt }, nowMs = Date.now()) =>
  nowMs - createdAt >= dayMs;

// What the latest buckets say: as many as hold `recentImpressions`, or all there are.
function recent(points) {
  const sum = { impressions: 0, clicked: 0, reciprocal: 0, entropy: 0 };
  for (const point of points.toReversed()) {
    if (sum.impressions >= recentImpressions) break;
    sum.impressions += point.impressions;
    sum.clicked += point.clicked;
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
    change && element(`span.change.${direction}`, change),
    element('span', `first day ${write(first)}`),
  ];
}

function tile([id, name, value, details]) {
  return element('div.card.tile', { 'data-tile': id },
    element('dt', name),
    element('dd.tile-value', { id: `tile-${id}` }, value),
    element('dd.tile-details', details.filter(Boolean).map((part) =>
      (typeof part === 'string' ? element('span', part) : part))));
}

export function drawTiles(list, model, stats) {
  const now = recent(stats.points);
  const against = (...given) => (hasFirstDay(model) ? againstFirstDay(...given) : []);
  const first = stats.first_day;
  list.replaceChildren(...[
    ['impressions', 'Impressions', count(model.impressions),
      [model.open !== null && `${counted(model.open, 'waits', 'wait')} for feedback`]],
    ['ctr', 'Click-through rate', percent(now.ctr),
      [...against(now.ctr, first.ctr, percent, pointsOfPercent),
        `${counted(stats.total.clicks, 'click')} in all`]],
    ['mrr', 'MRR of clicks', decimal(now.mrr, 3), against(now.mrr, first.mrr,
      (value) => decimal(value, 3), (value) => value.toFixed(3))],
    ['entropy', 'Entropy', decimal(now.entropy), [now.entropy !== null
      && `${Math.exp(now.entropy).toFixed(1)} effective choices for first place`]],
    ['updates', 'Updates', count(model.updates), [`version ${count(model.version)}`,
      `learned from ${counted(model.learned, 'impression')}`]],
    ['learning', 'Learning', model.learning ? 'On' : 'Frozen',
      [model.learning ? `step size ${model.learning_rate}`
        : model.frozen_because === 'asked' ? 'on request' : model.frozen_because]],
  ].map(tile));
  list.title = `over the last ${counted(now.impressions, 'impression')}`;
}
