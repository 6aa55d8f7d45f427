// The one thing to know about a test: how much better the new order is, how sure that is, and what it
// means in a sentence.

import { element } from './dom.js';
import { digitsOf, percent, wholePercent } from './format.js';
import { intervalBar, reachOf } from './interval_bar.js';
import { guardOf, headlineArm, liftText, rulesText, toneOf, verdict, waitText } from './lift.js';

const asSentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

export function drawLift(card, experiment) {
  const arm = headlineArm(experiment);
  const { lift } = arm;
  const tone = toneOf(lift);
  const guard = guardOf(experiment);
  const reach = lift && reachOf([lift, ...(guard === null ? [] : [{ low: guard, high: guard }])]);
  const why = arm.stopped_because ?? experiment.ended_because;
  const rules = rulesText(experiment);
  card.dataset.tone = tone;
  card.replaceChildren(...[
    element('p.lift-name', element('b', arm.name), ' against ',
      element('b', experiment.baseline)),
    element('p.lift-value', { id: 'lift-value' }, lift ? liftText(lift) : '?'),
    lift && intervalBar(lift, { reach, tone, mark: guard }),
    lift && element('p.interval-ends', { 'aria-hidden': 'true' },
      element('span', wholePercent(-reach)), element('span', '0'),
      element('span', wholePercent(reach))),
    element('p.lift-verdict', { id: 'lift-verdict' }, verdict(arm, experiment)),
    element('p.muted', [waitText(arm, experiment), why && asSentence(why),
      `The interval holds with ${percent(experiment.level, digitsOf(100 * experiment.level))} however often you look.`]
      .filter(Boolean).join(' ')),
    rules && element('p.muted', rules),
  ].filter(Boolean));
}
