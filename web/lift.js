// What an experiment says, in words.

import { change, counted, decimal, digitsOf, duration, percent } from './format.js';

export const metricNames = {
  clicks: 'clicks per list', 'click-through': 'lists with a click', dcg: 'DCG of clicks per list',
  events: 'worth of events per list',
};

export const valueText = (value, metric) =>
  (metric === 'click-through' ? percent(value) : decimal(value, 3));

// As many digits as the narrower side of the interval needs.
function digitsFor({ value, low, high }) {
  return Math.min(value - low, high - value) < 0.02 || Math.abs(value) < 0.0995 ? 1 : 0;
}

export const liftText = (lift) => change(lift.value, digitsFor(lift));

export function bandText(lift) {
  const digits = digitsFor(lift);
  const write = lift.low >= 0 ? (end) => percent(end, digits) : (end) => change(end, digits);
  return `${write(lift.low)} to ${write(lift.high)}`;
}

export const toneOf = (lift) =>
  (!lift ? 'open' : lift.low > 0 ? 'better' : lift.high < 0 ? 'worse' : 'open');

const policyNames = [
  [/^given$/, () => 'the order that requests give'],
  [/^model$/, () => 'this model'],
  [/^snapshot:(.*)$/, (id) => `snapshot ${id}`],
  [/^model:(.*)$/, (name) => `the model ${name}`],
];

export function policyText({ policy, mode }) {
  const [form, write] = policyNames.find(([each]) => each.test(policy)) ?? [/(.*)/, (all) => all];
  return write(policy.match(form)[1]) + (mode === 'exploit' ? ', best order only' : '');
}

// What a guard's or a promotion's percentage is as a number; null if there is none.
export function marginOf(text) {
  const found = /(-?[0-9.]+(?:e[-+]?[0-9]+)?) *(%?)/i.exec(text ?? '');
  return found ? Number(found[1]) / (found[2] ? 100 : 1) : null;
}

// The lift below which an arm is stopped; null if there is no guard.
export const guardOf = ({ guard }) => (guard ? -marginOf(guard.drop) : null);

export const challengersOf = ({ arms, baseline }) => arms.filter(({ name }) => name !== baseline);

const challengerColours = ['--c0', '--c1', '--c2', '--c3', '--c4', '--c6', '--c7'];

export function colourOf(name, experiment) {
  const place = challengersOf(experiment).findIndex((arm) => arm.name === name);
  return place < 0 ? '--c5' : challengerColours[place % challengerColours.length];
}

// The arm that an experiment is told by: the one that was promoted, else the best that is known, of
// those that were not stopped if there are any.
export function headlineArm(experiment) {
  const all = challengersOf(experiment);
  const going = all.filter((arm) => (arm.stopped_because ?? null) === null);
  const found = going.length > 0 ? going : all;
  return all.find(({ name }) => name === experiment.promoted)
    ?? found.reduce((best, arm) =>
      ((arm.lift?.value ?? -Infinity) > (best.lift?.value ?? -Infinity) ? arm : best), found[0]);
}

// The points of an arm in time: none after the one at which it was stopped, which later ones repeat.
export function pointsOf(arm, points) {
  const own = points.map(({ at, arms }) => ({ at,
    lift: arms.find(({ name }) => name === arm.name)?.lift ?? null }));
  if ((arm.stopped_because ?? null) === null || !arm.lift) return own;
  const isLast = ({ lift }) => lift !== null
    && ['value', 'low', 'high'].every((key) => lift[key] === arm.lift[key]);
  const end = own.findIndex(isLast);
  return end < 0 ? own : own.slice(0, end + 1);
}

// How requests without a mode are answered; '' if that is as always. `running`: the test that runs.
export function servedText(serves, running = null) {
  if (running) return `\u201c${running.name}\u201d decides what users see`;
  return { given: 'requests are served in the order given',
    exploit: 'requests are sorted by score, so nothing is learned' }[serves] ?? '';
}

// Whether a button may promote the arm: in a test that has ended, too, unless another arm was promoted
// or a test runs.
export function canPromote(arm, experiment, isAnotherRunning = false) {
  if (arm.name === experiment.baseline || experiment.promoted !== null) return false;
  if (experiment.state === 'running') return arm.stopped_because === null;
  return !isAnotherRunning && arm.stopped_because === null;
}

// One sentence: whether the arm is better than the baseline.
export function verdict(arm, experiment) {
  const { lift, name } = arm;
  if (!lift) return `Too early to tell: ${arm.no_lift ?? 'nothing was shown yet'}.`;
  const tone = toneOf(lift);
  if (tone !== 'open') return `${name} is ${tone}: ${liftText(lift)} (${bandText(lift)}).`;
  const open = experiment.state === 'running' ? 'Too early to tell' : 'Not decided';
  return `${open}: ${name} is between ${bandText(lift).replace(' to ', ' and ')}.`;
}

// When an effect of `size` would show, at the pace so far; '' if that is unknown or no question.
export function waitText(arm, experiment, size = 0.05) {
  const found = arm.detects?.find(({ effect }) => Math.abs(effect - size) < 1e-9);
  const isOpen = experiment.state === 'running' && toneOf(arm.lift) === 'open';
  if (!isOpen || !found || found.seconds === null) return '';
  const effect = `An effect of ${percent(size, 0)}`;
  return found.seconds === 0 ? `${effect} would have shown by now.`
    : `${effect} would show in about ${duration(found.seconds)}.`;
}

const unitNames = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

// "3d" in words.
function spanText(span) {
  const [, many, unit] = /^([0-9]+)([smhd])$/.exec(span) ?? [];
  return many === undefined ? span : `${many} ${unitNames[unit]}${many === '1' ? '' : 's'}`;
}

// What a running experiment does by itself; '' if nothing.
export function rulesText({ state, guard, promote }) {
  if (state !== 'running') return '';
  const by = (margin) => (margin ? ` by ${percent(margin, digitsOf(100 * margin))}` : '');
  return [guard && `Stops an arm once it is surely worse${by(marginOf(guard.drop))}.`,
    promote && `Promotes one once it is surely better${by(marginOf(promote.when))}, after ${
      spanText(promote.after)}.`].filter(Boolean).join(' ');
}

// How an experiment stands: {kind, text}; kind: 'running', 'promoted', 'guarded' or 'ended'.
export function standing(experiment) {
  if (experiment.state === 'running') return { kind: 'running', text: 'Running' };
  if (experiment.promoted !== null) {
    return { kind: 'promoted', text: `${experiment.promoted} promoted` };
  }
  const isGuarded = /guard/.test(experiment.ended_because ?? '')
    || challengersOf(experiment).every((arm) => arm.stopped_because !== null);
  return isGuarded ? { kind: 'guarded', text: 'Stopped by the guard' }
    : { kind: 'ended', text: 'Ended' };
}

// An experiment in one line of a list.
export function summary(experiment) {
  const arm = headlineArm(experiment);
  const lists = experiment.arms.reduce((sum, { impressions }) => sum + impressions, 0);
  return [arm.lift ? `${arm.name} ${liftText(arm.lift)} (${bandText(arm.lift)})` : arm.name,
    standing(experiment).text.toLowerCase(), counted(lists, 'list')].join(' \u00b7 ');
}
