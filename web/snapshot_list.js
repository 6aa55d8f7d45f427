// Snapshots, newest first, each with the way back to it.

import { element, set_text } from './dom.js';
import { ago, count, date_and_time } from './format.js';

const kKinds = { asked: 'Snapshot', automatic: 'Automatic snapshot', imported: 'Imported model' };

export const snapshot_name = (snapshot) =>
  snapshot.note || `${kKinds[snapshot.kind] ?? snapshot.kind} ${snapshot.id}`;

function row(snapshot, on_roll_back) {
  return element('li', { class: 'snapshot', 'data-snapshot': snapshot.id },
    element('div', {},
      element('b', {}, snapshot_name(snapshot)),
      element('span', { class: 'muted' },
        `${snapshot.kind} \u00b7 after ${count(snapshot.updates)} updates \u00b7 `,
        element('time', { datetime: new Date(snapshot.created_at).toISOString(),
          title: date_and_time(snapshot.created_at) }, ago(snapshot.created_at)))),
    element('button', { type: 'button', class: 'roll-back',
      'aria-label': `Roll back to ${snapshot_name(snapshot)}`,
      onclick: () => on_roll_back(snapshot) }, 'Roll back'));
}

export class SnapshotList {
  constructor(list, note, on_roll_back) {
    this.list_ = list;
    this.note_ = note;
    this.on_roll_back_ = on_roll_back;
    this.said_ = null;
  }

  update(snapshots) {
    const said = JSON.stringify(snapshots.map((each) => [each.id, ago(each.created_at)]));
    if (said === this.said_) return;
    this.said_ = said;
    set_text(this.note_, snapshots.length ? count(snapshots.length) : '');
    const focused = this.list_.contains(document.activeElement)
      ? document.activeElement.closest('[data-snapshot]')?.dataset.snapshot : null;
    this.list_.replaceChildren(...(snapshots.length
      ? snapshots.map((snapshot) => row(snapshot, this.on_roll_back_))
      : [element('li', { class: 'muted' },
        'None yet. A snapshot keeps the parameters as they are, so that you can come back.')]));
    if (focused) this.list_.querySelector(`[data-snapshot="${focused}"] button`)?.focus();
  }
}
