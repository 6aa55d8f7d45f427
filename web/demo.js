// The demo: a search page whose model learns from this visitor's clicks, or from a crowd's.

import * as api from './api.js';
import { catalogue, suggestedQueries } from './catalogue.js';
import { byId, element, setText, showConnection } from './dom.js';
import { count, decimal } from './format.js';
import { bestOrder, candidatesFor, featureNames, productFeatures, rankRequest, shownCount }
  from './product_features.js';
import { QualityPanel } from './quality_panel.js';
import { ResultList } from './result_list.js';
import { crowdKinds, Crowd, hiddenWeights } from './simulated_users.js';
import { paces, Simulation } from './simulation.js';
import { WeightBars } from './weight_bars.js';

const modelName = 'demo';
const modelSpec = {
  features: featureNames, learner: 'pdgd', ranker: 'linear', k: shownCount, scaling: 'query-minmax',
  learning_rate: 0.1, seed: 1,
};
const redrawMs = 160;
const reorderMs = 700;

const products = new Map(catalogue.map((product) => [product.id, product]));
const crowd = new Crowd(1);
const results = new ResultList(byId('results'), clickOn);
const weightBars = new WeightBars(byId('weights'));
const qualityPanel = new QualityPanel(byId('chart-quality'), byId('quality'));
const simulation = new Simulation({ model: modelName, crowd, onRound: afterRound, onTrouble });

let query = suggestedQueries[0];
let candidates = null;
let listedQuery = null;
let impression = null;
let model = null;
let weights = featureNames.map(() => 0);
let busy = false;
let snapshot = null;
let redrawnAt = 0;
let reorderedAt = 0;

function onTrouble(error, goesOn) {
  showConnection(error.status === 0 ? 'lost' : 'waiting',
    error.status === 0 ? 'Connection lost' : error.message);
  if (goesOn) return;
  drawSwitch();
  showNotice(error);
  if (error.status === undefined) reportError(error);
}

function showNotice(error) {
  byId('notice').textContent = error.status === 409
    ? 'There is a model \u201cdemo\u201d with other features or settings. Start over replaces it.'
    : error.status === 404 ? 'The model is gone. Start over makes it again.' : error.message;
  byId('notice').hidden = false;
}

// Runs one thing at a time; a second click while it runs is dropped.
async function alone(action) {
  if (busy) return;
  busy = true;
  try {
    await action();
    byId('notice').hidden = true;
    showConnection('live', 'Live');
  } catch (error) {
    onTrouble(error, false);
  } finally {
    busy = false;
  }
}

// The weights, with the crowd's hidden preference on the same scale. The order of a linear model is
// blind to scale, so the preference is drawn at the length that fits the weights best.
function drawWeights() {
  const wanted = hiddenWeights(crowd.people);
  const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);
  const fit = Math.max(1, dot(weights, wanted) / dot(wanted, wanted));
  weightBars.update(productFeatures.map(({ name, label }, place) => (
    { key: name, label, value: weights[place], wanted: fit * wanted[place] })));
}

// The model and its weights as they are now, in every panel.
async function refresh() {
  const [fresh, listed] = await Promise.all([api.getModel(modelName), api.getWeights(modelName)]);
  model = fresh;
  weights = listed.map((each) => each.weight);
  drawWeights();
  qualityPanel.add(model.impressions, crowd.qualityOf(weights));
  document.body.dataset.version = String(model.version);
  setText(byId('version'), `version ${count(model.version)}`);
  setText(byId('impressions'), count(model.impressions));
  redrawnAt = performance.now();
}

function setView(view) {
  document.body.dataset.view = view;
  for (const each of ['sampled', 'best']) byId(`view-${each}`).ariaPressed = String(each === view);
}

function say(text, { learned = false } = {}) {
  setText(byId('lesson'), text);
  byId('lesson').classList.toggle('learned', learned);
}

function showList(listed, facts) {
  results.show(listed, { compared: listedQuery === query });
  listedQuery = query;
  setText(byId('results-title'), query === '' ? 'Everything' : `\u201c${query}\u201d`);
  setText(byId('list-facts'), facts);
}

// A list left without a click is closed, so that the service does not wait for one.
async function leaveList() {
  if (impression === null) return;
  const left = impression;
  impression = null;
  await api.sendFeedback(modelName, [{ impression: left, event: 'close' }]);
}

// A list as a visitor gets it: sampled by the service, and what is clicked on it is learned.
async function showSampled() {
  await leaveList();
  const answer = await api.rank(modelName, rankRequest(candidates, 'visitor'));
  setView('sampled');
  impression = answer.impression;
  say('Click what you would choose: it was better than what you passed over.');
  document.body.dataset.impression = impression;
  showList(answer.items.map((item) => ({ product: products.get(item.id), score: item.score })),
    `sampled from ${candidates.products.length} candidates \u00b7 `
    + `log-probability ${decimal(answer.log_probability)} \u00b7 `
    + `entropy ${decimal(answer.entropy)}, ${Math.exp(answer.entropy).toFixed(1)} `
    + `effective choices for first place \u00b7 version ${count(answer.model_version)}`);
}

// The order without exploration, from the weights: nothing is asked of the service.
function showBest() {
  setView('best');
  say('What the model would show now, without exploration.');
  const { order, scores } = bestOrder(candidates.rows, weights);
  showList(order.slice(0, shownCount).map((doc) =>
    ({ product: candidates.products[doc], score: scores[doc] })),
  `best of ${candidates.products.length} candidates by the weights of version `
    + `${count(model?.version)}`);
  reorderedAt = performance.now();
}

async function search(text) {
  query = text.trim();
  byId('query').value = query;
  for (const chip of byId('chips').children) chip.ariaPressed = String(chip.textContent === query);
  candidates = candidatesFor(query);
  if (simulation.running) showBest();
  else await showSampled();
}

// Where the best order of the listed query puts a product now, from 1.
function bestPlace(id) {
  const { order } = bestOrder(candidates.rows, weights);
  return 1 + order.findIndex((doc) => candidates.products[doc].id === id);
}

// What a click on `chosen` taught, in a sentence. shown: the impression as the service tells it
// afterwards. before and after: the place of `chosen` in the best order.
function lessonText(shown, chosen, { before, after }) {
  if (shown.state !== 'learned') return 'Learning is frozen; the click is kept, not learned from.';
  const losers = shown.pairs.filter((pair) => pair.winner === chosen).map((pair) => pair.loser);
  if (losers.length === 0) return 'There was nothing to compare it with.';
  const [winner, loser] = [chosen, losers[0]].map((id) => products.get(id).title.split(',')[0]);
  const more = losers.length > 1 ? ` and ${losers.length - 1} more` : '';
  return `Learned: ${winner} over ${loser}${more}. Its best place `
    + (before === after ? `stays ${after}.` : `went from ${before} to ${after}.`);
}

function clickOn(id) {
  if (document.body.dataset.view === 'best') {
    say('Clicks on the best order teach nothing. Choose Sampled to teach.');
    return;
  }
  alone(async () => {
    const clicked = impression;
    impression = null;
    if (clicked === null) return showSampled();
    results.markChosen(id);
    await api.sendFeedback(modelName, [
      { impression: clicked, item: id, event: 'click' }, { impression: clicked, event: 'close' }]);
    const shown = await api.getImpression(modelName, clicked);
    const before = bestPlace(id);
    await refresh();
    const after = bestPlace(id);
    await showSampled();
    return say(lessonText(shown, id, { before, after }), { learned: shown.state === 'learned' });
  });
}

async function afterRound() {
  const now = performance.now();
  if (now - redrawnAt < redrawMs) return;
  await refresh();
  showConnection('live', 'Live');
  const rate = simulation.impressionsPerSecond();
  setText(byId('rate'), rate > 0 ? `${count(rate)}/s` : '');
  if (document.body.dataset.view === 'best' && now - reorderedAt > reorderMs) showBest();
}

function drawSwitch() {
  byId('simulate').ariaChecked = String(simulation.running);
  if (!simulation.running) setText(byId('rate'), '');
}

function beginSimulation() {
  showBest();
  simulation.start();
  drawSwitch();
}

async function endSimulation() {
  const ended = simulation.stop();
  drawSwitch();
  await ended;
  await refresh();
}

function drawPeople() {
  setText(byId('says'), crowd.people.says);
  qualityPanel.setChance(crowd.qualityOfChance());
  drawWeights();
}

function become(people) {
  crowd.become(people);
  qualityPanel.mark(model?.impressions ?? 0, people.name.toLowerCase());
  qualityPanel.add(model?.impressions ?? 0, crowd.qualityOf(weights));
  drawPeople();
}

function drawSnapshot(text) {
  byId('rollback').disabled = snapshot === null;
  setText(byId('snapshot-note'), text ?? (snapshot === null ? ''
    : `Rolls back to the snapshot after ${count(snapshot.updates)} updates.`));
}

async function findSnapshot() {
  const kept = await api.listSnapshots(modelName);
  snapshot = kept.find((each) => each.kind === 'asked') ?? null;
  drawSnapshot();
}

async function rollBack() {
  await endSimulation();
  await api.rollBack(modelName, snapshot.id);
  qualityPanel.mark(model.impressions, 'rolled back');
  await refresh();
  showBest();
  drawSnapshot(`Rolled back to after ${count(snapshot.updates)} updates.`);
}

// For errors that do not matter.
const unless = (status) => (error) => {
  if (error.status !== status) throw error;
};

async function startOver() {
  const wasRunning = simulation.running;
  await simulation.stop();
  await api.deleteModel(modelName).catch(unless(404));
  impression = null;
  qualityPanel.clear();
  await begin();
  if (wasRunning) beginSimulation();
}

async function begin() {
  // A token that may not make models can still use one.
  await api.createModel(modelName, modelSpec).catch(unless(403));
  await refresh();
  await findSnapshot();
  await search(query);
}

byId('chips').append(...suggestedQueries.map((suggested) =>
  element('button', { type: 'button', 'aria-pressed': 'false',
    onclick: () => alone(() => search(suggested)) }, suggested)));
byId('people').append(...crowdKinds.map((people) =>
  element('label',
    element('input', { type: 'radio', name: 'people', value: people.id,
      checked: people === crowd.people, onchange: () => become(people) }),
    element('span', people.name))));
byId('search').addEventListener('submit', (event) => {
  event.preventDefault();
  alone(() => search(byId('query').value));
});
const buttons = {
  'view-sampled': showSampled,
  'view-best': async () => {
    if (candidates === null) return;
    await leaveList();
    showBest();
  },
  snapshot: async () => {
    snapshot = await api.takeSnapshot(modelName, 'from the demo');
    qualityPanel.mark(model.impressions, 'snapshot');
    drawSnapshot();
  },
  rollback: rollBack,
  'start-over': startOver,
};
for (const [id, action] of Object.entries(buttons)) {
  byId(id).addEventListener('click', () => alone(action));
}
byId('simulate').addEventListener('click', () => {
  if (candidates === null) return;
  if (!simulation.running) beginSimulation();
  else alone(() => endSimulation().then(showSampled));
});
byId('pace').addEventListener('change', (event) => {
  simulation.pace = paces[event.target.value];
});

drawPeople();
alone(begin);
