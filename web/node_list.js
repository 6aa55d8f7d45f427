// The processes that serve the store: what each learns, its share of requests, and how far it is
// behind. Hidden if there is only one.

import { element, setText, showRows } from './dom.js';
import { ago, count, decimal, percent } from './format.js';

const mostNames = 8;
const recentMs = 60_000;
const requests = (node) => node.ranked + node.events;

// Each node's share of the requests of the last minute, or since the page was opened if that is
// less. What a node counts starts with the node, so that totals would compare different times.
export class RecentShares {
  constructor() {
    this.polls = []; // { at, counts: requests by node }
  }

  // Shares by node, at the time `at` in ms; null while there was no request.
  update(nodes, at) {
    this.polls = this.polls.filter((poll) => at - poll.at <= recentMs);
    this.polls.push({ at, counts: new Map(nodes.map((node) => [node.id, requests(node)])) });
    const since = (node) => {
      const first = this.polls.find((poll) => poll.counts.has(node.id));
      return Math.max(0, requests(node) - first.counts.get(node.id));
    };
    const recent = new Map(nodes.map((node) => [node.id, since(node)]));
    const total = [...recent.values()].reduce((sum, each) => sum + each, 0);
    if (total === 0) return null;
    return new Map([...recent].map(([id, each]) => [id, each / total]));
  }
}

function leadsOf(node) {
  if (node.leads.length === 0) return 'learns no model';
  const names = node.leads.slice(0, mostNames).join(', ');
  const rest = node.leads.length - mostNames;
  return `learns ${names}${rest > 0 ? ` and ${count(rest)} more` : ''}`;
}

function row(node, shares, here) {
  const share = shares === null ? null : shares.get(node.id);
  const bar = element('span.bar');
  bar.style.width = `${Math.round(100 * (share ?? 0))}%`;
  return element('li.node', { 'data-key': node.id },
    element('div', element('b', `${node.name || 'node'} \u00b7 ${node.id}`),
      element('span.muted', [
        ...(node.id === here ? ['this one'] : []),
        leadsOf(node), `joined ${ago(node.started_at)}`,
        node.lag_seconds > 0 ? `${decimal(node.lag_seconds, 1)} s behind` : 'up to date',
      ].join(' \u00b7 '))),
    element('div.share', { title: `${count(requests(node))} requests since its start` },
      element('span.track', bar), element('span.number', share === null ? '' : percent(share, 0))));
}

export class NodeList {
  constructor(panel, list, note) {
    this.panel = panel;
    this.list = list;
    this.note = note;
    this.shares = new RecentShares();
  }

  update({ node, nodes }) {
    this.panel.hidden = node === null;
    if (node === null) return;
    setText(this.note, `${count(nodes.length)}, with their shares of recent requests`);
    const shares = this.shares.update(nodes, Date.now());
    showRows(this.list, nodes.map((each) => row(each, shares, node)));
  }
}
