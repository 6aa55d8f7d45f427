// The arms of a test side by side: who sees them, what happened, and how they compare.

import { element, showRows } from './dom.js';
import { count, digitsOf, percent } from './format.js';
import { intervalBar, reachOf } from './interval_bar.js';
import { bandText, canPromote, colourOf, liftText, metricNames, policyText, toneOf, valueText }
  from './lift.js';

function coloured(made, name, experiment) {
  made.style.background = `var(${colourOf(name, experiment)})`;
  return made;
}

function shareOf({ name, share }, experiment) {
  const part = coloured(element('i'), name, experiment);
  part.style.flexGrow = String(share);
  return part;
}

// What is special about an arm: [kind, text], or null.
function markOf(arm, experiment) {
  if (arm.name === experiment.promoted) return ['promoted', 'promoted'];
  if (arm.stopped_because !== null) return ['guarded', 'stopped'];
  return arm.name === experiment.baseline ? ['ended', 'baseline'] : null;
}

function card(arm, experiment, { reach, onPromote, isAnotherRunning }) {
  const isBaseline = arm.name === experiment.baseline;
  const mark = markOf(arm, experiment);
  const metric = metricNames[experiment.metric] ?? experiment.metric;
  const fact = (name, value) => [element('dt', name), element('dd', value)];
  const liftFact = arm.lift ? `${liftText(arm.lift)} (${bandText(arm.lift)})` : 'not known yet';
  return element('li.arm', { 'data-key': arm.name },
    element('div.arm-head', coloured(element('i.arm-dot'), arm.name, experiment),
      element('h3', arm.name), mark && element('span.chip', { 'data-kind': mark[0] }, mark[1])),
    element('p.muted', policyText(arm)),
    element('p.arm-value', element('b', valueText(arm.value, experiment.metric)),
      element('span.muted', ` ${metric}`)),
    element('dl.arm-facts',
      ...(arm.share === null ? []
        : [fact('Share', percent(arm.share, digitsOf(100 * arm.share)))]),
      fact('Lists', count(arm.impressions)), fact('Units', count(arm.units)),
      fact('Clicks', count(arm.clicks)), fact('Lift', isBaseline ? '\u2013' : liftFact)),
    arm.lift && intervalBar(arm.lift, { reach, tone: toneOf(arm.lift) }),
    canPromote(arm, experiment, isAnotherRunning)
      && element('button.acts.promote', { type: 'button', 'aria-label': `Promote ${arm.name}`,
        onclick: () => onPromote(arm) }, 'Promote'));
}

export class ArmList {
  constructor(container, onPromote) {
    this.onPromote = onPromote;
    this.shares = element('div.shares', { 'aria-hidden': 'true' });
    this.list = element('ul.arms', { id: 'arms', 'aria-label': 'Arms' });
    container.replaceChildren(this.shares, this.list);
  }

  // `isAnotherRunning`: whether another test of the model runs.
  update(experiment, isAnotherRunning = false) {
    const { arms } = experiment;
    const isSplit = arms.every(({ share }) => share !== null);
    this.shares.hidden = !isSplit;
    this.shares.replaceChildren(...(isSplit ? arms.map((arm) => shareOf(arm, experiment)) : []));
    const reach = reachOf(arms.flatMap(({ lift }) => (lift ? [lift] : [])));
    showRows(this.list, arms.map((arm) =>
      card(arm, experiment, { reach, onPromote: this.onPromote, isAnotherRunning })));
  }
}
