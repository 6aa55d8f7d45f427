// Building elements. Text goes in as text, never as markup.

const svgNamespace = 'http://www.w3.org/2000/svg';

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// element('p', {class: 'note'}, 'text', otherElement): null children and attributes are left out.
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svgElement(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

export const byId = (id) => document.getElementById(id);

export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export const motionAllowed = () => !matchMedia('(prefers-reduced-motion: reduce)').matches;
