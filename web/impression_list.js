// Recent impressions: what was shown, what was clicked, and what was inferred from it. The list
// does not change while one of them is open.

import { element, setText, showRows } from './dom.js';
import { ago, dateAndTime, decimal, short } from './format.js';

const stateNames = {
  open: 'waiting', learned: 'learned', expired: 'expired', closed: 'not learned',
};

// The context's query if it has one, else the context itself.
function contextText(context) {
  if (context === null || context === undefined) return '';
  const text = typeof context === 'string' ? context
    : typeof context.query === 'string' ? context.query : JSON.stringify(context);
  return text.length > 80 ? `${text.slice(0, 79)}\u2026` : text;
}

// Ids go when the unit that saw them is deleted.
const idOf = (id) => id ?? 'deleted';

function shownItem(item) {
  const marks = [item.clicked && 'clicked', item.pinned && 'pinned', item.viewed && 'viewed']
    .filter(Boolean);
  return element(item.clicked ? 'li.shown.clicked' : 'li.shown',
    element('span.shown-rank', String(item.rank)),
    element('span.shown-id', idOf(item.id)),
    element('span.shown-marks', marks.join(', ')),
    element('span.shown-score', decimal(item.score, 3)));
}

function pairsTable(pairs) {
  if (pairs.length === 0) return element('p.muted', 'No preference was inferred.');
  return element('table.pairs',
    element('caption', `${pairs.length} inferred ${pairs.length === 1 ? 'pair' : 'pairs'}`),
    element('thead', element('tr', element('th', { scope: 'col' }, 'winner over loser'),
      ['\u03c1', 'weight'].map((name) => element('th.number', { scope: 'col' }, name)))),
    element('tbody', pairs.map((pair) => element('tr',
      element('td', element('b', idOf(pair.winner)), element('span.muted', ' over '),
        idOf(pair.loser)),
      element('td.number', decimal(pair.rho, 3)),
      element('td.number', short(pair.weight))))));
}

function detailsOf(impression) {
  return element('div.impression-body',
    element('div', element('ol.shown-list', impression.items.map(shownItem)),
      element('p.muted.small', [`version ${impression.model_version}`, impression.mode,
        ...(impression.unit ? [`unit ${impression.unit}`] : []),
        `log-probability ${decimal(impression.log_probability)}`,
        `entropy ${decimal(impression.entropy)}`, dateAndTime(impression.shown_at)]
        .join(' \u00b7 '))),
    pairsTable(impression.pairs ?? []));
}

function summaryOf(impression) {
  const clicked = impression.items.filter((item) => item.clicked).map((item) => item.rank);
  const clicks = clicked.length === 0 ? 'no click'
    : `clicked ${clicked.map((rank) => `#${rank}`).join(', ')}`;
  return element('summary',
    element('span.impression-name', impression.impression),
    element('span.impression-context', contextText(impression.context)),
    element('span.strip', { 'aria-hidden': 'true' }, impression.items.slice(0, 20)
      .map((item) => element(item.clicked ? 'i.place.clicked' : 'i.place'))),
    element(clicked.length ? 'span.impression-clicks.some' : 'span.impression-clicks', clicks),
    element(`span.state.state-${impression.state}`,
      stateNames[impression.state] ?? impression.state),
    element('span.impression-time', ago(impression.shown_at)));
}

// What a row says apart from its age: it is rebuilt only if that changed.
const says = (impression) => JSON.stringify([impression.impression, impression.state,
  impression.pairs?.length, impression.items.map((item) => item.clicked)]);

export class ImpressionList {
  constructor(list, note) {
    this.list = list;
    this.note = note;
    this.rows = new Map();
  }

  clear() {
    this.rows.clear();
    this.list.replaceChildren();
  }

  update(impressions) {
    if (this.list.querySelector('details[open]')) {
      setText(this.note, 'held while one is open');
      return;
    }
    setText(this.note, impressions.length ? '' : 'none yet');
    const rows = new Map();
    for (const impression of impressions) {
      const said = says(impression);
      const row = this.rows.get(said) ?? this.makeRow(impression);
      rows.set(said, row);
      setText(row.querySelector('.impression-time'), ago(impression.shown_at));
    }
    this.rows = rows;
    showRows(this.list, [...rows.values()]);
  }

  makeRow(impression) {
    const details = element('details', { 'data-impression': impression.impression,
      ontoggle: () => {
        if (details.open && details.children.length === 1) details.append(detailsOf(impression));
      } }, summaryOf(impression));
    return element('li.impression', { 'data-key': impression.impression }, details);
  }
}
