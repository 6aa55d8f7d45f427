// The dashboard: follows one model at a time and lets its learning be stopped, kept and undone.

import * as api from './api.js';
import { Chart } from './chart.js';
import { confirm_in_page } from './confirm_dialog.js';
import { by_id, element, set_text } from './dom.js';
import { count, date_and_time, decimal, percent, short } from './format.js';
import { ImpressionList } from './impression_list.js';
import { Poller } from './poller.js';
import { SnapshotList, snapshot_name } from './snapshot_list.js';
import { draw_tiles } from './tiles.js';
import { WeightBars } from './weight_bars.js';

const kPoints = 200;
const kImpressions = 20;
const kFeatures = 20;

const charts = {
  ctr: new Chart(by_id('chart-ctr'), { label: 'Click-through rate over time', over_time: true, least_width: 1000,
    write_y: (y, tick) => percent(y, tick ? 0 : 1), write_x: date_and_time }),
  mrr: new Chart(by_id('chart-mrr'), { label: 'Mean reciprocal rank over time', over_time: true,
    least_width: 1000,
    write_y: (y, tick) => decimal(y, tick ? 2 : 3), write_x: date_and_time }),
  entropy: new Chart(by_id('chart-entropy'), { label: 'Entropy over time', over_time: true, least_width: 1000,
    from_zero: true, write_y: (y, tick) => decimal(y, tick ? 1 : 2), write_x: date_and_time }),
  update_norm: new Chart(by_id('chart-norm'), { label: 'Size of updates over time',
    over_time: true, least_width: 1000, from_zero: true, write_y: short, write_x: date_and_time }),
};
const features = new WeightBars(by_id('features'));
const impressions = new ImpressionList(by_id('impressions'), by_id('impressions-note'));
const snapshots = new SnapshotList(by_id('snapshots'), by_id('snapshots-note'), ask_to_roll_back);

let chosen = null;
let model = null;

function model_in_address() {
  return new URLSearchParams(location.hash.slice(1)).get('model');
}

// The model asked for where it exists, else the first.
function choose(models) {
  const wanted = model_in_address() ?? chosen;
  return models.find((each) => each.name === wanted) ?? models[0] ?? null;
}

function draw_choice(models) {
  const select = by_id('model-select');
  const names = models.map((each) => each.name);
  if (names.join('\n') !== [...select.options].map((option) => option.value).join('\n')) {
    select.replaceChildren(...names.map((name) => element('option', { value: name }, name)));
  }
  if (document.activeElement !== select || select.value === '') select.value = model.name;
}

function draw_model() {
  set_text(by_id('model-name'), model.name);
  document.title = `${model.name} \u00b7 plackett`;
  set_text(by_id('model-facts'), [
    `${model.ranker} ranker`, `${model.learner} learner`, `${count(model.features)} features`,
    `${model.k} shown`, `${model.scaling} scaling`, `since ${date_and_time(model.created_at)}`,
  ].join(' \u00b7 '));
  set_text(by_id('freeze'), model.learning ? 'Freeze' : 'Resume');
  by_id('model').dataset.version = String(model.version);
  by_id('model').dataset.learning = String(model.learning);
  const broken = !model.learning && model.frozen_because !== 'asked';
  by_id('model').classList.toggle('broken', broken);
}

function draw_charts(stats) {
  const line = (name) => stats.points.map((point) => ({ x: point.at, y: point[name] ?? null }));
  const first_day = (name, write) => ({ references: [{ y: stats.first_day[name] ?? null,
    label: `first day ${write(stats.first_day[name])}` }] });
  charts.ctr.update(line('ctr'), first_day('ctr', percent));
  charts.mrr.update(line('mrr'), first_day('mrr', (value) => decimal(value, 3)));
  charts.entropy.update(line('entropy'));
  charts.update_norm.update(line('update_norm'));
}

function draw_features(weights) {
  const signed = weights.every((each) => each.weight !== undefined && each.weight !== null);
  const strongest = [...weights].sort((a, b) => b.strength - a.strength).slice(0, kFeatures);
  features.update(strongest.map((each) => ({
    key: String(each.feature),
    label: each.name ?? `feature ${each.feature}`,
    value: signed ? each.weight : each.strength,
  })), { signed });
  const kind = signed ? 'by weight' : 'by strength';
  set_text(by_id('features-note'), weights.length > kFeatures
    ? `${kind}, ${kFeatures} of ${count(weights.length)}` : kind);
}

function curl_line(options, path, body) {
  const address = new URL(path, location.href).href;
  const token = api.has_token() ? '  -H "Authorization: Bearer $TOKEN" \\\n' : '';
  return `curl ${options}${options && ' '}${address} \\\n${token}  -d '${body}'`;
}

function draw_empty(models) {
  by_id('no-models').hidden = models.length > 0;
  by_id('model').hidden = models.length === 0;
  set_text(by_id('create-line'), curl_line('-X PUT', 'models/shop',
    '{"features": ["price", "rating", "age"]}'));
  if (model === null) return;
  by_id('no-impressions').hidden = model.impressions > 0;
  by_id('charts').hidden = model.impressions === 0;
  const example = JSON.stringify(Array.from({ length: Math.min(model.features, 8) },
    (_, feature) => Number((0.9 - 0.1 * feature).toFixed(1)))).slice(0, -1)
    + (model.features > 8 ? ',\u2026]' : ']');
  const path = `models/${encodeURIComponent(model.name)}`;
  set_text(by_id('rank-line'), [
    curl_line('', `${path}/rank`, `{"items": [{"id": "a", "features": ${example}}, \u2026]}`),
    curl_line('', `${path}/feedback`,
      '[{"impression": "i-1", "item": "a", "event": "click"},\n'
      + '       {"impression": "i-1", "event": "close"}]'),
  ].join('\n'));
}

async function refresh() {
  const models = await api.list_models();
  model = choose(models);
  draw_empty(models);
  if (model === null) return;
  if (model.name !== chosen) {
    chosen = model.name;
    impressions.clear();
  }
  const followed = model.name;
  draw_choice(models);
  draw_model();
  const [stats, weights, shown, kept] = await Promise.all([
    api.get_stats(followed, kPoints),
    api.get_weights(followed),
    api.list_impressions(followed, { limit: kImpressions,
      clicked_only: by_id('clicked-only').checked }),
    api.list_snapshots(followed),
  ]);
  if (followed !== choose(models).name) return;
  draw_tiles(by_id('tiles'), model, stats);
  draw_charts(stats);
  draw_features(weights);
  impressions.update(shown);
  snapshots.update(kept);
}

function show_connection(state, text) {
  const place = by_id('connection');
  place.dataset.state = state;
  set_text(place, text);
}

const poller = new Poller(refresh, {
  on_success: () => show_connection('live', 'Live'),
  on_failure: (error, retry_ms) => {
    // A model deleted between two requests: the next round sees the list without it.
    if (error.status === 404) return;
    show_connection('lost', `${error.status === 0 ? 'Connection lost' : error.message}. `
      + `Trying again in ${Math.round(retry_ms / 1000)} s`);
    if (error.status === undefined) reportError(error);
  },
});

// A service started without the demo says so.
async function hide_missing_demo() {
  const { demo } = await api.get_health().catch(() => ({}));
  for (const link of document.querySelectorAll('.to-demo')) link.hidden = demo === false;
}

async function act(action) {
  const notice = by_id('notice');
  try {
    await action();
    notice.hidden = true;
  } catch (error) {
    notice.textContent = error.message;
    notice.hidden = false;
    if (error.status === undefined) reportError(error);
  }
  poller.now();
}

async function ask_to_roll_back(snapshot) {
  const { confirmed } = await confirm_in_page({
    title: `Roll back to \u201c${snapshot_name(snapshot)}\u201d?`,
    message: `The model goes on from its parameters of ${date_and_time(snapshot.created_at)}, `
      + `after ${count(snapshot.updates)} updates. What it has learned since is set aside; `
      + 'a snapshot taken now would keep it.',
    action: 'Roll back',
  });
  if (confirmed) await act(() => api.roll_back(chosen, snapshot.id));
}

by_id('take-snapshot').addEventListener('click', async () => {
  const { confirmed, text } = await confirm_in_page({
    title: 'Take a snapshot', message: 'Keeps the parameters as they are now.',
    action: 'Take it', input_label: 'Note (optional)',
  });
  if (confirmed) await act(() => api.take_snapshot(chosen, text));
});

by_id('freeze').addEventListener('click', () =>
  act(() => (model.learning ? api.freeze(chosen) : api.resume(chosen))));

by_id('model-select').addEventListener('change', (event) => {
  location.hash = new URLSearchParams({ model: event.target.value }).toString();
});
addEventListener('hashchange', () => poller.now());
by_id('clicked-only').addEventListener('change', () => {
  impressions.clear();
  poller.now();
});

hide_missing_demo();
poller.now();
