// Building elements. Text goes in as text, never as markup.

const svgTags = new Set(['svg', 'path']);
const isThere = (value) => value !== undefined && value !== null && value !== false;

// element('p.note', {id: 'x'}, 'text', otherElement): a tag with classes, attributes if there are
// any, and children. What is null, undefined or false is left out; onclick and the like listen.
export function element(selector, ...parts) {
  const [tag, ...classes] = selector.split('.');
  const made = svgTags.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  made.classList.add(...classes);
  const hasAttributes = parts[0]?.constructor === Object;
  for (const [name, value] of hasAttributes ? Object.entries(parts.shift()) : []) {
    if (!isThere(value)) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...parts.flat().filter(isThere));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// Makes these the rows of a list. Rows that stay are not touched; if the one with the focus is
// replaced, the focus goes to the new one with its key (data-key).
export function showRows(list, rows) {
  const focused = list.contains(document.activeElement) && document.activeElement.closest('li');
  for (const row of [...list.children]) if (!rows.includes(row)) row.remove();
  rows.forEach((row, place) => {
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
  });
  if (focused && !focused.isConnected) {
    rows.find((row) => row.dataset.key === focused.dataset.key)
      ?.querySelector('summary, button')?.focus({ preventScroll: true });
  }
}

// The state of the service in the bar across the top: 'waiting', 'live' or 'lost'.
export function showConnection(state, text) {
  byId('connection').dataset.state = state;
  setText(byId('connection'), text);
}

export const motionAllowed = () => !matchMedia('(prefers-reduced-motion: reduce)').matches;
