// The live test of a model: whether the new order is better, how that became known, what each arm
// did, and the tests before it.

import * as api from './api.js';
import { ArmList } from './arm_list.js';
import { confirmInPage } from './dialog.js';
import { element, setText, showRows } from './dom.js';
import { askForExperiment } from './experiment_form.js';
import { ago, dateAndTime } from './format.js';
import { metricNames, standing, summary, verdict } from './lift.js';
import { drawLift } from './lift_card.js';
import { LiftChart } from './lift_chart.js';

export class ExperimentPanel {
  // act(action): runs an async action of the user, and tells what went wrong.
  constructor(container, act) {
    this.act = act;
    this.model = null;
    this.listed = [];
    this.wanted = null; // the name of an earlier test that the user looks at
    this.said = null;
    this.build(container);
  }

  build(container) {
    const button = (selector, id, text, onclick) =>
      element(selector, { type: 'button', id, onclick }, text);
    this.name = element('h2', { id: 'experiments-title' }, 'Live test');
    this.chip = element('span.chip', { id: 'experiment-standing' });
    this.note = element('span.muted', { id: 'experiment-note' });
    this.start = button('button.acts', 'start-experiment', 'Start a test', () => this.askToStart());
    this.stop = button('button.acts', 'stop-experiment', 'Stop', () => this.askToStop());
    this.undo = button('button.acts', 'undo-promotion', 'Undo promotion', () => this.askToUndo());
    this.latest = button('button', 'latest-experiment', 'Back to the latest',
      () => this.show(null));
    this.none = element('p.muted.experiment-none', { id: 'no-experiment' },
      'No test yet. A live test shows a new order to a share of your users, and says as soon as it '
      + 'is surely better, or worse, than what they see today.');
    this.lift = element('div.lift', { id: 'lift' });
    const figure = element('div', { id: 'chart-lift' });
    const arms = element('div');
    this.body = element('div.experiment-body', { hidden: true },
      element('div.experiment-top', this.lift,
        element('figure.lift-figure', element('figcaption', element('h3', 'Lift over time'),
          element('span', 'with its interval')), figure)),
      arms);
    this.earlier = element('ol', { id: 'earlier-experiments' });
    this.others = element('div.earlier', { hidden: true }, element('h3', 'Other tests'),
      this.earlier);
    container.replaceChildren(
      element('div.panel-head.experiment-head', this.name, this.chip, this.note,
        element('div.actions', this.latest, this.undo, this.stop, this.start)),
      this.none, this.body, this.others);
    this.chart = new LiftChart(figure);
    this.arms = new ArmList(arms, (arm) => this.askToPromote(arm));
    // Until something is known.
    for (const part of [this.chip, this.start, this.stop, this.undo, this.latest, this.none]) {
      part.hidden = true;
    }
  }

  follow(model) {
    this.model = model;
    this.wanted = null;
    this.said = null;
    this.listed = [];
  }

  // The test that runs, as far as is known; null if none does.
  running() {
    return this.listed.find(({ state }) => state === 'running') ?? null;
  }

  // What update() draws: the tests, and the one to show with its results over time.
  async load() {
    const { model } = this;
    const listed = await api.listExperiments(model);
    const chosen = listed.find(({ name }) => name === this.wanted)
      ?? listed.find(({ state }) => state === 'running') ?? listed[0];
    return { listed, shown: chosen ? await api.getExperiment(model, chosen.name) : null };
  }

  update({ listed, shown }, snapshots) {
    this.listed = listed;
    this.shown = shown;
    this.snapshots = snapshots;
    // Times are told as ages, which change by themselves.
    const said = JSON.stringify([listed, shown, Math.floor(Date.now() / 10000)]);
    if (said === this.said) return;
    this.said = said;
    this.none.hidden = listed.length > 0;
    this.body.hidden = shown === null;
    const isRunning = listed.some(({ state }) => state === 'running');
    this.start.hidden = isRunning;
    this.start.classList.toggle('primary', listed.length === 0);
    this.stop.hidden = shown?.state !== 'running';
    this.undo.hidden = !shown?.can_undo;
    this.latest.hidden = !shown || listed.every(({ name }) => name !== this.wanted);
    this.drawHead(shown);
    if (shown !== null) {
      drawLift(this.lift, shown);
      this.chart.update(shown);
      this.arms.update(shown, isRunning && shown.state !== 'running');
    }
    this.drawEarlier(listed.filter(({ name }) => name !== shown?.name));
  }

  drawHead(experiment) {
    this.chip.hidden = experiment === null;
    if (experiment === null) {
      setText(this.note, '');
      return;
    }
    const { kind, text } = standing(experiment);
    this.chip.dataset.kind = kind;
    setText(this.chip, text);
    setText(this.note, [experiment.name,
      experiment.design === 'interleave' ? 'interleaved lists' : 'split by user',
      metricNames[experiment.metric] ?? experiment.metric,
      experiment.ended_at === null ? `started ${ago(experiment.started_at)}`
        : `ended ${ago(experiment.ended_at)}`].join(' \u00b7 '));
  }

  drawEarlier(experiments) {
    this.others.hidden = experiments.length === 0;
    showRows(this.earlier, experiments.map((experiment) => this.earlierRow(experiment)));
  }

  earlierRow(experiment) {
    const { name, state, started_at: startedAt, ended_at: endedAt } = experiment;
    return element('li.snapshot', { 'data-key': name },
      element('div', element('b', name), element('span.muted', `${summary(experiment)} \u00b7 `,
        element('time', { datetime: new Date(startedAt).toISOString(),
          title: dateAndTime(startedAt) }, ago(endedAt ?? startedAt)))),
      element('div.actions',
        element('button', { type: 'button', 'aria-label': `Show ${name}`,
          onclick: () => this.show(name) }, 'Show'),
        state === 'ended' && element('button.acts', { type: 'button',
          'aria-label': `Delete ${name}`, onclick: () => this.askToDelete(experiment) },
        'Delete')));
  }

  // Looks at an earlier test; null: at the running one, or the last.
  show(name) {
    this.wanted = name;
    this.act(async () => {});
  }

  async askToStart() {
    const { model } = this;
    const answer = await askForExperiment({ taken: this.listed.map(({ name }) => name),
      snapshots: this.snapshots });
    if (answer === null) return;
    this.wanted = null;
    await this.act(() => api.startExperiment(model, answer.name, answer.spec));
  }

  async askToPromote(arm) {
    const { model, shown } = this;
    const answer = await confirmInPage({
      title: `Show \u201c${arm.name}\u201d to everyone?`,
      message: `${shown.state === 'running' ? 'The test ends. ' : ''}${verdict(arm, shown)} `
        + 'You can undo this.',
      action: 'Promote',
    });
    if (answer !== null) await this.act(() => api.promote(model, shown.name, arm.name));
  }

  async askToStop() {
    const { model, shown } = this;
    const answer = await confirmInPage({
      title: `Stop \u201c${shown.name}\u201d?`,
      message: 'Everyone sees what was shown before the test again. What was measured is kept, but '
        + 'the test can\u2019t be resumed.',
      action: 'Stop the test',
    });
    if (answer !== null) await this.act(() => api.stopExperiment(model, shown.name));
  }

  async askToUndo() {
    const { model, shown } = this;
    const answer = await confirmInPage({
      title: `Undo the promotion of \u201c${shown.promoted}\u201d?`,
      message: 'Everyone sees again what was served before it. What the model has learned since is '
        + 'lost.',
      action: 'Undo',
    });
    if (answer !== null) await this.act(() => api.undoPromotion(model, shown.name));
  }

  async askToDelete(experiment) {
    const { model } = this;
    const answer = await confirmInPage({
      title: `Delete \u201c${experiment.name}\u201d?`,
      message: 'Its results are lost. What is served does not change.',
      action: 'Delete',
    });
    if (answer !== null) await this.act(() => api.deleteExperiment(model, experiment.name));
  }
}
