// The form that starts a split test of one challenger.

import { formInPage } from './dialog.js';
import { metricNames } from './lift.js';
import { snapshotName } from './snapshot_list.js';

// Of the form's fields. Old and new are arms' names; a snapshot is tested against the model.
export function specOf({ challenger, share, metric, guard, promote, after }) {
  const isModel = challenger === 'model';
  const part = Number(share) / 100;
  return {
    arms: [
      { name: isModel ? 'old' : 'model', policy: isModel ? 'given' : 'model',
        share: Number((1 - part).toFixed(6)) },
      { name: isModel ? 'learned' : challenger.replace(':', '-'), policy: challenger,
        share: Number(part.toFixed(6)) },
    ],
    metric,
    ...(Number(guard) > 0 && { guard: { drop: `${Number(guard)} %` } }),
    ...(promote !== '' && { promote: { when: promote, after } }),
  };
}

// A name that no experiment has yet.
function freeName(taken) {
  for (let number = 1; ; number += 1) {
    const name = `test-${number}`;
    if (!taken.includes(name)) return name;
  }
}

// Resolves with {name, spec}; with null if it was cancelled.
export async function askForExperiment({ taken, snapshots }) {
  const answer = await formInPage({
    title: 'Start a live test',
    message: 'Part of your users see the new order; the rest see the one that it is tested against. '
      + 'A user, named by the requests\u2019 field \u201cunit\u201d, always sees the same one.',
    action: 'Start',
    fields: [
      { name: 'name', label: 'Name', value: freeName(taken), pattern: '[A-Za-z0-9._\\-]{1,64}',
        required: true, title: 'letters, digits, dots, dashes and underscores' },
      { name: 'challenger', label: 'What is tested', options: [
        ['model', 'This model, against the order that requests give'],
        ...snapshots.map((each) => [`snapshot:${each.id}`,
          `\u201c${snapshotName(each)}\u201d, against this model`])] },
      { name: 'share', label: 'Share of users who see it, in %', type: 'number', value: '10',
        min: '0.1', max: '99.9', step: 'any', required: true },
      { name: 'metric', label: 'What counts', options: Object.entries(metricNames) },
      { name: 'guard', label: 'Guard: stop it once it is surely worse by more than, in %',
        type: 'number', value: '5', min: '0.1', max: '99', step: 'any', hint: 'Empty: no guard.' },
      { name: 'promote', label: 'Promote it automatically', options: [
        ['', 'Never: I decide'], ['lower > 0', 'Once it is surely better'],
        ['lower > 1 %', 'Once it is surely better by 1 %'],
        ['lower > 2 %', 'Once it is surely better by 2 %']] },
      { name: 'after', label: 'If so, not before it ran for', options: [
        ['3d', '3 days'], ['1h', '1 hour'], ['1d', '1 day'], ['7d', '7 days'],
        ['14d', '14 days']] },
    ],
  });
  return answer && { name: answer.name, spec: specOf(answer) };
}
