// The dashboard: follows one model at a time and lets its learning be stopped, kept and undone.

import * as api from './api.js';
import { LineChart } from './charts.js';
import { confirmInPage } from './dialog.js';
import { byId, element, setText, showConnection } from './dom.js';
import { ExperimentPanel } from './experiment_panel.js';
import { count, counted, dateAndTime, decimal, digitsOf, percent, short } from './format.js';
import { ImpressionList } from './impression_list.js';
import { servedText } from './lift.js';
import { NodeList } from './node_list.js';
import { Poller } from './poller.js';
import { SnapshotList, snapshotName } from './snapshot_list.js';
import { drawTiles, hasFirstDay } from './tiles.js';
import { WeightBars } from './weight_bars.js';
import { WhatIfPanel } from './what_if_panel.js';

const pointCount = 200;
const impressionCount = 20;
const featureCount = 20;

// The charts over time. name: of the number in a point. writeFirst: for those with the first day as
// a reference.
const charts = [
  { name: 'ctr', title: 'Click-through rate', note: 'impressions with a click',
    bounds: [0, 1], writeY: (y, step) => percent(y, step ? digitsOf(100 * step) : 1),
    writeFirst: percent },
  { name: 'mrr', title: 'Mean reciprocal rank', note: 'of the first click',
    bounds: [0, 1], writeY: (y, step) => decimal(y, step ? Math.max(2, digitsOf(step)) : 3),
    writeFirst: (y) => decimal(y, 3) },
  { name: 'entropy', title: 'Entropy', note: 'how open the first place is, in nats',
    yRange: [0, null], bounds: [0, Infinity],
    writeY: (y, step) => decimal(y, step ? Math.max(1, digitsOf(step)) : 2) },
  { name: 'update_norm', title: 'Size of updates', note: 'mean length of a step',
    yRange: [0, null], bounds: [0, Infinity], writeY: short },
].map(({ name, title, note, writeFirst, ...options }) => {
  const place = element('div', { id: `chart-${name}` });
  byId('charts').append(element('figure.card.figure',
    element('figcaption', element('h2', title), element('span', note)), place));
  return { name, writeFirst, chart: new LineChart(place, { label: `${title} over time`,
    xAxis: 'time', leastWidth: 1000, writeX: dateAndTime, ...options }) };
});
const features = new WeightBars(byId('features'));
const impressions = new ImpressionList(byId('impressions'), byId('impressions-note'));
const snapshots = new SnapshotList(byId('snapshots'), byId('snapshots-note'), askToRollBack);
const experiments = new ExperimentPanel(byId('experiments'), act);
const nodes = new NodeList(byId('nodes-panel'), byId('nodes'), byId('nodes-note'));
const whatIf = new WhatIfPanel(byId('what-if'));

let chosen = null;
let model = null;

// The model in the address if it exists, else the first.
function choose(models) {
  const wanted = new URLSearchParams(location.hash.slice(1)).get('model') ?? chosen;
  return models.find((each) => each.name === wanted) ?? models[0] ?? null;
}

function drawChoice(models) {
  const select = byId('model-select');
  const names = models.map((each) => each.name);
  if (names.join('\n') !== [...select.options].map((option) => option.value).join('\n')) {
    select.replaceChildren(...names.map((name) => element('option', { value: name }, name)));
  }
  if (document.activeElement !== select || select.value === '') select.value = model.name;
}

function drawModel() {
  setText(byId('model-name'), model.name);
  document.title = `${model.name} \u00b7 plackett`;
  setText(byId('model-facts'), [
    `${model.ranker} ranker`, `${model.learner} learner`, counted(model.features, 'feature'),
    `${model.k} shown`, `${model.scaling} scaling`, `since ${dateAndTime(model.created_at)}`,
    servedText(model.serves, experiments.running()),
  ].filter(Boolean).join(' \u00b7 '));
  setText(byId('freeze'), model.learning ? 'Freeze' : 'Resume');
  byId('model').dataset.version = String(model.version);
  byId('model').dataset.learning = String(model.learning);
  byId('model').classList.toggle('broken', !model.learning && model.frozen_because !== 'asked');
}

function drawCharts(stats) {
  for (const { name, writeFirst, chart } of charts) {
    const first = stats.first_day[name] ?? null;
    chart.update([{ area: true,
      points: stats.points.map((point) => ({ x: point.at, y: point[name] ?? null })) }],
    { references: writeFirst && hasFirstDay(model) ? [{ y: first, text: `first day ${writeFirst(first)}` }] : [] });
  }
}

function drawFeatures(weights) {
  const signed = weights.every((each) => each.weight !== undefined && each.weight !== null);
  const strongest = [...weights].sort((a, b) => b.strength - a.strength).slice(0, featureCount);
  features.update(strongest.map((each) => ({
    key: String(each.feature), label: each.name ?? `feature ${each.feature}`,
    value: signed ? each.weight : each.strength,
  })), { signed });
  const kind = signed ? 'by weight' : 'by strength';
  setText(byId('features-note'), weights.length > featureCount
    ? `${kind}, ${featureCount} of ${count(weights.length)}` : kind);
}

function curlLine(options, path, body) {
  const address = new URL(path, location.href).href;
  const token = api.hasToken() ? '  -H "Authorization: Bearer $TOKEN" \\\n' : '';
  return `curl ${options}${options && ' '}${address} \\\n${token}  -d '${body}'`;
}

function drawEmpty(models) {
  byId('no-models').hidden = models.length > 0;
  byId('model').hidden = models.length === 0;
  setText(byId('create-line'), curlLine('-X PUT', 'models/shop',
    '{"features": ["price", "rating", "age"]}'));
  if (model === null) return;
  byId('no-impressions').hidden = model.impressions > 0;
  byId('charts').hidden = model.impressions === 0;
  const example = JSON.stringify(Array.from({ length: Math.min(model.features, 8) },
    (_, feature) => Number((0.9 - 0.1 * feature).toFixed(1)))).slice(0, -1)
    + (model.features > 8 ? ',\u2026]' : ']');
  const path = `models/${encodeURIComponent(model.name)}`;
  setText(byId('rank-line'), [
    curlLine('', `${path}/rank`, `{"items": [{"id": "a", "features": ${example}}, \u2026]}`),
    curlLine('', `${path}/feedback`,
      '[{"impression": "i-1", "item": "a", "event": "click"},\n'
      + '       {"impression": "i-1", "event": "close"}]'),
  ].join('\n'));
}

async function refresh() {
  const { models, role } = await api.getModels();
  document.body.classList.toggle('read-only', role !== 'admin');
  model = choose(models);
  drawEmpty(models);
  if (model === null) return;
  if (model.name !== chosen) {
    chosen = model.name;
    impressions.clear();
    experiments.follow(chosen);
    whatIf.follow(chosen);
  }
  const followed = model.name;
  drawChoice(models);
  drawModel();
  const [stats, weights, shown, kept, tested, serving] = await Promise.all([
    api.getStats(followed, pointCount),
    api.getWeights(followed),
    api.listImpressions(followed, { limit: impressionCount,
      clickedOnly: byId('clicked-only').checked }),
    api.listSnapshots(followed),
    experiments.load(),
    // A token that is bound to a model may not see them.
    api.getNodes().catch((error) => {
      if (error.status !== 403) throw error;
      return { node: null, nodes: [] };
    }),
  ]);
  if (followed !== choose(models).name) return;
  drawTiles(byId('tiles'), model, stats);
  drawCharts(stats);
  drawFeatures(weights);
  impressions.update(shown);
  snapshots.update(kept);
  experiments.update(tested, kept);
  drawModel(); // says which test runs
  whatIf.update(kept);
  nodes.update(serving);
}

const poller = new Poller(refresh, {
  onSuccess: () => showConnection('live', 'Live'),
  onFailure: (error, retryMs) => {
    // A model deleted between two requests: the next round sees the list without it.
    if (error.status === 404) return;
    showConnection('lost', `${error.status === 0 ? 'Connection lost' : error.message}. `
      + `Trying again in ${Math.round(retryMs / 1000)} s`);
    if (error.status === undefined) reportError(error);
  },
});

// A service started without the demo says so.
async function hideMissingDemo() {
  const { demo } = await api.getHealth().catch(() => ({}));
  for (const link of document.querySelectorAll('.to-demo')) link.hidden = demo === false;
}

async function act(action) {
  const notice = byId('notice');
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

async function askToRollBack(snapshot) {
  const answer = await confirmInPage({
    title: `Roll back to \u201c${snapshotName(snapshot)}\u201d?`,
    message: `The model goes on from its parameters of ${dateAndTime(snapshot.created_at)}, `
      + `after ${counted(snapshot.updates, 'update')}. What it has learned since is set aside; `
      + 'a snapshot taken now would keep it.',
    action: 'Roll back',
  });
  if (answer !== null) await act(() => api.rollBack(chosen, snapshot.id));
}

byId('take-snapshot').addEventListener('click', async () => {
  const note = await confirmInPage({
    title: 'Take a snapshot', message: 'Keeps the parameters as they are now.',
    action: 'Take it', inputLabel: 'Note (optional)',
  });
  if (note !== null) await act(() => api.takeSnapshot(chosen, note));
});

byId('freeze').addEventListener('click', () =>
  act(() => (model.learning ? api.freeze(chosen) : api.resume(chosen))));

byId('model-select').addEventListener('change', (event) => {
  location.hash = new URLSearchParams({ model: event.target.value }).toString();
});
addEventListener('hashchange', () => poller.now());
byId('clicked-only').addEventListener('change', () => {
  impressions.clear();
  poller.now();
});

hideMissingDemo();
poller.now();
