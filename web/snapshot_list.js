// Snapshots, newest first, each with the way back to it.

import { element, setText, showRows } from './dom.js';
import { ago, count, dateAndTime } from './format.js';

const kindNames = {
  asked: 'Snapshot', automatic: 'Automatic snapshot', imported: 'Imported model',
};

export const snapshotName = (snapshot) =>
  snapshot.note || `${kindNames[snapshot.kind] ?? snapshot.kind} ${snapshot.id}`;

function row(snapshot, onRollBack) {
  return element('li.snapshot', { 'data-key': snapshot.id },
    element('div', element('b', snapshotName(snapshot)),
      element('span.muted',
        `${snapshot.kind} \u00b7 after ${count(snapshot.updates)} updates \u00b7 `,
        element('time', { datetime: new Date(snapshot.created_at).toISOString(),
          title: dateAndTime(snapshot.created_at) }, ago(snapshot.created_at)))),
    element('button.acts.roll-back', { type: 'button',
      'aria-label': `Roll back to ${snapshotName(snapshot)}`,
      onclick: () => onRollBack(snapshot) }, 'Roll back'));
}

export class SnapshotList {
  constructor(list, note, onRollBack) {
    this.list = list;
    this.note = note;
    this.onRollBack = onRollBack;
    this.said = null;
  }

  update(snapshots) {
    const said = JSON.stringify(snapshots.map((each) => [each.id, ago(each.created_at)]));
    if (said === this.said) return;
    this.said = said;
    setText(this.note, snapshots.length ? count(snapshots.length) : '');
    showRows(this.list, snapshots.length
      ? snapshots.map((snapshot) => row(snapshot, this.onRollBack))
      : [element('li.muted',
        'None yet. A snapshot keeps the parameters as they are, so that you can come back.')]);
  }
}
