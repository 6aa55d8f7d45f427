// The demo: a search page whose model learns from this visitor's clicks, or from a crowd's.

import * as api from './api.js';
import { kCatalogue, kSuggestedQueries } from './catalogue.js';
import { by_id, element, set_text } from './dom.js';
import { count, decimal } from './format.js';
import { lesson_text } from './lesson.js';
import { best_order, candidates_for, kFeatureNames, scaled } from './product_features.js';
import { QualityPanel } from './quality_panel.js';
import { ResultList } from './result_list.js';
import { kPeople, Crowd } from './simulated_users.js';
import { kPaces, Simulation } from './simulation.js';
import { WeightPanel } from './weight_panel.js';

const kModel = 'demo';
const kSpec = {
  features: kFeatureNames, learner: 'pdgd', ranker: 'linear', k: 10, scaling: 'query-minmax',
  learning_rate: 0.1, seed: 1,
};
const kShown = 10;
const kRedraw_ms = 160;
const kReorder_ms = 700;

const products = new Map(kCatalogue.map((product) => [product.id, product]));
const crowd = new Crowd(1);
const results = new ResultList(by_id('results'), click_on);
const weight_panel = new WeightPanel(by_id('weights'));
const quality_panel = new QualityPanel(by_id('chart-quality'), by_id('quality'));
const simulation = new Simulation({ model: kModel, crowd, on_round: after_round, on_trouble });

let query = kSuggestedQueries[0];
let candidates = null;
let listed_query = null;
let impression = null;
let model = null;
let weights = kFeatureNames.map(() => 0);
let busy = false;
let snapshot = null;
let redrawn_at = 0;
let reordered_at = 0;

function show_connection(state, text) {
  by_id('connection').dataset.state = state;
  set_text(by_id('connection'), text);
}

function on_trouble(error, goes_on) {
  show_connection(error.status === 0 ? 'lost' : 'waiting',
    error.status === 0 ? 'Connection lost' : error.message);
  if (goes_on) return;
  draw_switch();
  show_notice(error);
  if (error.status === undefined) reportError(error);
}

function show_notice(error) {
  by_id('notice').textContent = error.status === 409
    ? 'There is a model \u201cdemo\u201d with other features or settings. Start over replaces it.'
    : error.status === 404 ? 'The model is gone. Start over makes it again.' : error.message;
  by_id('notice').hidden = false;
}

// Runs one thing at a time; a second click while it runs is dropped.
async function alone(action) {
  if (busy) return;
  busy = true;
  try {
    await action();
    by_id('notice').hidden = true;
    show_connection('live', 'Live');
  } catch (error) {
    on_trouble(error, false);
  } finally {
    busy = false;
  }
}

// The model and its weights as they are now, in every panel.
async function refresh() {
  const [fresh, listed] = await Promise.all([api.get_model(kModel), api.get_weights(kModel)]);
  model = fresh;
  weights = listed.map((each) => each.weight);
  weight_panel.draw(weights, crowd.people);
  quality_panel.add(model.impressions, crowd.quality_of(weights));
  document.body.dataset.version = String(model.version);
  set_text(by_id('version'), `version ${count(model.version)}`);
  set_text(by_id('impressions'), count(model.impressions));
  redrawn_at = performance.now();
}

function set_view(view) {
  document.body.dataset.view = view;
  by_id('view-sampled').setAttribute('aria-pressed', String(view === 'sampled'));
  by_id('view-best').setAttribute('aria-pressed', String(view === 'best'));
}

function say(text, { learned = false } = {}) {
  set_text(by_id('lesson'), text);
  by_id('lesson').classList.toggle('learned', learned);
}

function show_list(listed, facts) {
  results.show(listed, { compared: listed_query === query });
  listed_query = query;
  set_text(by_id('results-title'), query === '' ? 'Everything' : `\u201c${query}\u201d`);
  set_text(by_id('list-facts'), facts);
}

// A list left without a click is closed, so that the service does not wait for one.
async function leave_list() {
  if (impression === null) return;
  const left = impression;
  impression = null;
  await api.send_feedback(kModel, [{ impression: left, event: 'close' }]);
}

// A list as a visitor gets it: sampled by the service, and what is clicked on it is learned.
async function show_sampled() {
  await leave_list();
  const answer = await api.rank(kModel, {
    items: candidates.products.map((product, doc) =>
      ({ id: product.id, features: candidates.features[doc] })),
    k: kShown, mode: 'explore', context: { query, user: 'visitor' },
  });
  set_view('sampled');
  impression = answer.impression;
  say('Click what you would choose: it was better than what you passed over.');
  document.body.dataset.impression = impression;
  show_list(answer.items.map((item) => ({ product: products.get(item.id), score: item.score })),
    `sampled from ${candidates.products.length} candidates \u00b7 `
    + `log-probability ${decimal(answer.log_probability)} \u00b7 `
    + `entropy ${decimal(answer.entropy)}, ${Math.exp(answer.entropy).toFixed(1)} `
    + `effective choices for first place \u00b7 version ${count(answer.model_version)}`);
}

// The order without exploration, from the weights: nothing is asked of the service.
function show_best() {
  set_view('best');
  say('What the model would show now, without exploration.');
  const { order, scores } = best_order(candidates.rows, weights);
  show_list(order.slice(0, kShown).map((doc) =>
    ({ product: candidates.products[doc], score: scores[doc] })),
  `best of ${candidates.products.length} candidates by the weights of version `
    + `${count(model?.version)}`);
  reordered_at = performance.now();
}

async function search(text) {
  query = text.trim();
  by_id('query').value = query;
  for (const chip of by_id('chips').children) {
    chip.setAttribute('aria-pressed', String(chip.textContent === query));
  }
  const found = candidates_for(query);
  candidates = { ...found, rows: scaled(found.features) };
  if (simulation.running) show_best();
  else await show_sampled();
}

// Where the best order of the listed query puts a product now, from 1.
function best_place(id) {
  const { order } = best_order(candidates.rows, weights);
  return 1 + order.findIndex((doc) => candidates.products[doc].id === id);
}

function click_on(id) {
  if (document.body.dataset.view === 'best') {
    say('Clicks on the best order teach nothing. Choose Sampled to teach.');
    return;
  }
  alone(async () => {
    const clicked = impression;
    impression = null;
    if (clicked === null) {
      await show_sampled();
      return;
    }
    results.mark_chosen(id);
    await api.send_feedback(kModel, [
      { impression: clicked, item: id, event: 'click' }, { impression: clicked, event: 'close' }]);
    const shown = await api.get_impression(kModel, clicked);
    const before = best_place(id);
    await refresh();
    const after = best_place(id);
    await show_sampled();
    say(lesson_text(shown, id, { before, after }), { learned: shown.state === 'learned' });
  });
}

async function after_round() {
  const now = performance.now();
  if (now - redrawn_at < kRedraw_ms) return;
  await refresh();
  show_connection('live', 'Live');
  const rate = simulation.impressions_per_second();
  set_text(by_id('rate'), rate > 0 ? `${count(rate)}/s` : '');
  if (document.body.dataset.view === 'best' && now - reordered_at > kReorder_ms) show_best();
}

function draw_switch() {
  by_id('simulate').setAttribute('aria-checked', String(simulation.running));
  if (!simulation.running) set_text(by_id('rate'), '');
}

function begin_simulation() {
  show_best();
  simulation.start();
  draw_switch();
}

async function end_simulation() {
  const ended = simulation.stop();
  draw_switch();
  await ended;
  await refresh();
}

function draw_people() {
  set_text(by_id('says'), crowd.people.says);
  quality_panel.set_chance(crowd.quality_of_chance());
  weight_panel.draw(weights, crowd.people);
}

function become(people) {
  crowd.become(people);
  quality_panel.mark(model?.impressions ?? 0, people.name.toLowerCase());
  quality_panel.add(model?.impressions ?? 0, crowd.quality_of(weights));
  draw_people();
}

function draw_snapshot(text) {
  by_id('rollback').disabled = snapshot === null;
  set_text(by_id('snapshot-note'), text ?? (snapshot === null ? ''
    : `Rolls back to the snapshot after ${count(snapshot.updates)} updates.`));
}

async function find_snapshot() {
  const kept = await api.list_snapshots(kModel);
  snapshot = kept.find((each) => each.kind === 'asked') ?? null;
  draw_snapshot();
}

async function roll_back() {
  await end_simulation();
  await api.roll_back(kModel, snapshot.id);
  quality_panel.mark(model.impressions, 'rolled back');
  await refresh();
  show_best();
  draw_snapshot(`Rolled back to after ${count(snapshot.updates)} updates.`);
}

async function start_over() {
  const was_running = simulation.running;
  await simulation.stop();
  try {
    await api.delete_model(kModel);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  impression = null;
  quality_panel.clear();
  await begin();
  if (was_running) begin_simulation();
}

async function begin() {
  try {
    await api.create_model(kModel, kSpec);
  } catch (error) {
    // A token that may not make models can still use one.
    if (error.status !== 403) throw error;
  }
  await refresh();
  await find_snapshot();
  await search(query);
}

by_id('chips').append(...kSuggestedQueries.map((suggested) =>
  element('button', { type: 'button', 'aria-pressed': 'false',
    onclick: () => alone(() => search(suggested)) }, suggested)));
by_id('people').append(...kPeople.map((people) =>
  element('label', {},
    element('input', { type: 'radio', name: 'people', value: people.id,
      checked: people === crowd.people, onchange: () => become(people) }),
    element('span', {}, people.name))));
by_id('search').addEventListener('submit', (event) => {
  event.preventDefault();
  alone(() => search(by_id('query').value));
});
by_id('view-sampled').addEventListener('click', () => alone(show_sampled));
by_id('view-best').addEventListener('click', () => alone(async () => {
  if (candidates === null) return;
  await leave_list();
  show_best();
}));
by_id('simulate').addEventListener('click', () => {
  if (candidates === null) return;
  if (!simulation.running) {
    begin_simulation();
    return;
  }
  alone(async () => {
    await end_simulation();
    await show_sampled();
  });
});
by_id('pace').addEventListener('change', (event) => {
  simulation.pace = kPaces[event.target.value];
});
by_id('snapshot').addEventListener('click', () => alone(async () => {
  snapshot = await api.take_snapshot(kModel, 'from the demo');
  quality_panel.mark(model.impressions, 'snapshot');
  draw_snapshot();
}));
by_id('rollback').addEventListener('click', () => alone(roll_back));
by_id('start-over').addEventListener('click', () => alone(start_over));

draw_people();
alone(begin);
