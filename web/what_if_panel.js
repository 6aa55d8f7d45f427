// What other orders would have been worth on the lists that were shown.

import * as api from './api.js';
import { element, setText, showRows } from './dom.js';
import { count, counted, dateAndTime, missing, withSign } from './format.js';
import { intervalBar, reachOf } from './interval_bar.js';
import { metricNames, toneOf, valueText } from './lift.js';
import { snapshotName } from './snapshot_list.js';

const mostSnapshots = 8;
// The first is checked at the start: unlike a sorted order, it is one that the log can tell of.
const ownPolicies = [['current', 'This model, exploring as now'],
  ['current@0', 'This model, best order only']];
// The first that has a value is told; the others can be unfolded.
const preferred = ['doubly-robust', 'self-normalised', 'prefix-ips', 'exposure'];

const placeOf = ({ estimator }) => (preferred.indexOf(estimator) + preferred.length + 1)
  % (preferred.length + 1);
const sorted = (estimates) => [...estimates].sort((a, b) =>
  Boolean(a.refused) - Boolean(b.refused) || placeOf(a) - placeOf(b));

const toneWords = {
  better: 'better than what was shown', worse: 'worse than what was shown',
  open: 'no telling it from what was shown',
};

const rangeText = ({ value, low, high }, write) =>
  (missing(low) ? write(value) : `${write(value)} (${write(low)} to ${write(high)})`);

const leftOutWords = [['not_sampled', 'sorted or given'], ['open', 'still open'],
  ['candidates_never_kept', 'without their candidates'], ['damaged', 'unreadable']];

// The lists that were not evaluated on; '' if there are none.
export function leftOutText(leftOut) {
  const parts = leftOutWords.filter(([key]) => leftOut[key] > 0)
    .map(([key, words]) => `${count(leftOut[key])} ${words}`);
  return parts.length === 0 ? '' : ` Left out: ${parts.join(', ')}.`;
}

// Why there is no answer. The service tells times in UTC, and this page in the visitor's.
export function refusalText({ message, leftOut = null }) {
  if (!leftOut?.open || leftOut.candidates_never_kept > 0 || !message.includes('feedback')) {
    return `No answer: ${message}.`;
  }
  return `No answer yet: ${counted(leftOut.open, 'list waits', 'lists wait')} for feedback; the first `
    + `can be used from ${dateAndTime(leftOut.open_until)}.${
      leftOutText({ ...leftOut, open: 0 })}`;
}

export const ranksText = (ranks) => `effective lists by rank: ${
  ranks.map((rank) => count(rank.effective_lists)).join(', ')}`;

function differenceText(difference, metric) {
  const [scale, unit] = metric === 'click-through' ? [100, ' points'] : [1, ''];
  const digits = scale === 1 ? 3 : 1;
  return rangeText(difference, (y) => withSign(scale * y, digits)) + unit;
}

function estimateText(estimate, metric) {
  if (estimate.refused) return `no estimate: ${estimate.refused}`;
  return [rangeText(estimate, (y) => valueText(y, metric)),
    estimate.difference && `${differenceText(estimate.difference, metric)} against logged`]
    .filter(Boolean).join(', ');
}

function row(policy, label, { metric, reach }) {
  const [first, ...rest] = sorted(policy.estimates);
  const difference = first?.refused ? null : first?.difference;
  const tone = toneOf(difference);
  return element('li.what-if-row', { 'data-key': policy.name, 'data-tone': tone },
    element('div.what-if-name', element('b', label),
      element('span.muted', first?.refused ? 'the log can\u2019t tell'
        : difference ? toneWords[tone] : '')),
    first?.refused || !first ? element('p.what-if-refused', `No estimate: ${first?.refused
      ?? 'none was asked for'}.`)
      : element('div.what-if-numbers', element('b', valueText(first.value, metric)),
        element('span.muted',
          `${valueText(first.low, metric)} to ${valueText(first.high, metric)}`)),
    difference && element('div.what-if-difference', intervalBar(difference, { reach, tone }),
      element('span', differenceText(difference, metric))),
    element('details', element('summary',
      `${first?.estimator ?? ''} \u00b7 ${count(policy.effective_lists)} effective lists`),
    element('ul.small', element('li', ranksText(policy.ranks)), rest.map((estimate) => element('li',
      element('b', estimate.estimator), ` ${estimateText(estimate, metric)}`)),
    rest.length === 0 && element('li', 'No other estimator was asked.'))));
}

export class WhatIfPanel {
  constructor(container) {
    this.model = null;
    this.labels = new Map();
    this.build(container);
  }

  build(container) {
    this.policies = element('div.what-if-policies');
    this.metric = element('select', { id: 'what-if-metric' },
      Object.entries(metricNames).map(([value, text]) => element('option', { value }, text)));
    this.button = element('button.primary', { id: 'what-if-run' }, 'Evaluate');
    this.note = element('p.muted', { id: 'what-if-note', role: 'status' });
    this.results = element('ol', { id: 'what-if-results' });
    container.replaceChildren(
      element('div.panel-head', element('h2', { id: 'what-if-title' }, 'What if'),
        element('span.muted',
          'what another order would have been worth, from the lists already shown')),
      element('form.what-if-form', { onsubmit: (event) => {
        event.preventDefault();
        this.evaluate();
      } },
      element('fieldset', element('legend.visually-hidden', 'Orders to evaluate'), this.policies),
      element('label.visually-hidden', { for: 'what-if-metric' }, 'What counts'), this.metric,
      this.button),
      this.note, this.results);
  }

  follow(model) {
    this.model = model;
    this.asked = null; // an answer that is still on its way is another model's
    this.labels.clear();
    this.policies.replaceChildren();
    this.finish('');
    showRows(this.results, []);
  }

  // Offers these snapshots; keeps what is checked.
  update(snapshots) {
    const offered = new Map([...ownPolicies, ...snapshots.slice(0, mostSnapshots).map((each) =>
      [`snapshot:${each.id}`, snapshotName(each)])]);
    const same = offered.size === this.labels.size
      && [...offered].every(([name, label]) => this.labels.get(name) === label);
    if (same) return;
    const checked = new Set(this.labels.size ? this.checked() : [ownPolicies[0][0]]);
    this.labels = offered;
    this.policies.replaceChildren(...[...offered].map(([name, label]) =>
      element('label.pick', element('input', { type: 'checkbox', name: 'policy', value: name,
        checked: checked.has(name) }), element('span', label))));
  }

  checked() {
    return [...this.policies.querySelectorAll('input:checked')].map((input) => input.value);
  }

  finish(text) {
    this.button.disabled = false;
    setText(this.button, 'Evaluate');
    setText(this.note, text);
  }

  async evaluate() {
    const policies = this.checked();
    if (policies.length === 0) {
      setText(this.note, 'Choose at least one order.');
      return;
    }
    const metric = this.metric.value;
    const asked = {};
    this.asked = asked;
    this.button.disabled = true;
    setText(this.button, 'Evaluating\u2026');
    setText(this.note, 'Reading the log\u2026');
    try {
      const answer = await api.whatIf(this.model, policies, { metric });
      if (this.asked === asked) this.draw(answer, metric);
    } catch (error) {
      if (this.asked === asked) this.finish(refusalText(error));
      if (error.status === undefined) reportError(error);
    }
  }

  draw({ lists, kept, left_out: leftOut, logged, policies }, metric) {
    const differences = policies.flatMap(({ estimates }) =>
      sorted(estimates).slice(0, 1).flatMap(({ difference }) => (difference ? [difference] : [])));
    const reach = reachOf(differences);
    this.finish(`As logged: ${rangeText(logged, (y) => valueText(y, metric))} ${
      metricNames[metric]}. From the newest ${counted(lists, 'list')}, ${count(kept)} of them with all `
      + `their candidates.${leftOutText(leftOut)}`);
    showRows(this.results, policies.map((policy) =>
      row(policy, this.labels.get(policy.name) ?? policy.name, { metric, reach })));
  }
}
