// The processes that serve the store: what each learns, its share of requests, and how far it is
// behind. Hidden if there is only one.

import { element, setText, showRows } from './dom.js';
import { ago, count, decimal, percent } from './format.js';

const mostNames = 8;

function leadsOf(node) {
  if (node.leads.length === 0) return 'learns no model';
  const names = node.leads.slice(0, mostNames).join(', ');
  const rest = node.leads.length - mostNames;
  return `learns ${names}${rest > 0 ? ` and ${count(rest)} more` : ''}`;
}

function row(node, all, here) {
  const requests = (each) => each.ranked + each.events;
  const total = all.reduce((sum, each) => sum + requests(each), 0);
  const share = total > 0 ? requests(node) / total : 0;
  const bar = element('span.bar');
  bar.style.width = `${Math.round(100 * share)}%`;
  return element('li.node', { 'data-key': node.id },
    element('div', element('b', `${node.name || 'node'} \u00b7 ${node.id}`),
      element('span.muted', [
        ...(node.id === here ? ['this one'] : []),
        leadsOf(node), `joined ${ago(node.started_at)}`,
        node.lag_seconds > 0 ? `${decimal(node.lag_seconds, 1)} s behind` : 'up to date',
      ].join(' \u00b7 '))),
    element('div.share', { title: `${count(requests(node))} requests since its start` },
      element('span.track', bar), element('span.number', percent(share, 0))));
}

export class NodeList {
  constructor(panel, list, note) {
    this.panel = panel;
    this.list = list;
    this.note = note;
  }

  update({ node, nodes }) {
    this.panel.hidden = node === null;
    if (node === null) return;
    setText(this.note, `${count(nodes.length)}, with their shares of all requests`);
    showRows(this.list, nodes.map((each) => row(each, nodes, node)));
  }
}
