// The page's script: plain, inline, and only an addition to what the page already shows.
#pragma once

namespace plackett::report {

// Runs before the page is drawn, so that a chosen scheme does not flash.
inline constexpr const char* kEarlyScript = R"js(
document.documentElement.classList.add('js');
try{const t=localStorage.getItem('plackett-theme');
if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch(e){}
)js";

inline constexpr const char* kScript = R"js(
(() => {
'use strict';
const root = document.documentElement;
const $ = (selector, within) => [...(within || document).querySelectorAll(selector)];

// Light and dark.
const toggle = document.getElementById('theme');
const dark = () => root.dataset.theme ? root.dataset.theme === 'dark'
                                      : matchMedia('(prefers-color-scheme: dark)').matches;
const name = () => { toggle.textContent = dark() ? 'Light' : 'Dark'; };
toggle.addEventListener('click', () => {
  root.dataset.theme = dark() ? 'light' : 'dark';
  try { localStorage.setItem('plackett-theme', root.dataset.theme); } catch (e) { /* private */ }
  name();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', name);
name();

// The command, copied.
const copy = document.getElementById('copy');
if (copy) copy.addEventListener('click', async () => {
  const text = document.getElementById('command');
  try { await navigator.clipboard.writeText(text.textContent); copy.textContent = 'Copied'; }
  catch (e) { getSelection().selectAllChildren(text); copy.textContent = 'Selected'; }
  setTimeout(() => { copy.textContent = 'Copy'; }, 1600);
});

// Titles of marks and dots, shown as the page's own tips; lines of a title are lines of the tip.
const bubble = document.body.appendChild(document.createElement('div'));
bubble.className = 'tip bubble';
bubble.hidden = true;
bubble.setAttribute('role', 'status');
for (const tipped of $('.tipped')) {
  const holder = tipped.querySelector('title');
  const text = holder ? holder.textContent : tipped.title;
  if (holder) holder.remove(); else tipped.removeAttribute('title');
  tipped.setAttribute('aria-label', text);
  const show = () => {
    bubble.replaceChildren(...text.split('\n').map(line => {
      const made = document.createElement('div');
      made.textContent = line;
      return made;
    }));
    bubble.hidden = false;
    const box = tipped.getBoundingClientRect();
    const left = Math.min(box.left + scrollX, scrollX + root.clientWidth - bubble.offsetWidth - 8);
    bubble.style.left = Math.max(8, left) + 'px';
    bubble.style.top = box.bottom + scrollY + 8 + 'px';
  };
  const hide = () => { bubble.hidden = true; };
  tipped.addEventListener('pointerenter', show);
  tipped.addEventListener('pointerleave', hide);
  tipped.addEventListener('focus', show);
  tipped.addEventListener('blur', hide);
}

const holder = document.getElementById('data');
if (!holder) return;
const data = JSON.parse(holder.textContent);
const hidden = new Set();

// The legends: a pointer over a name singles its lines out, a press takes them away.
for (const button of $('.legend button')) {
  const series = button.dataset.series;
  const lines = () => $('.panel [data-series],.strip [data-series]');
  const single = on => lines().forEach(
    line => line.classList.toggle('faint', on && line.dataset.series !== series));
  button.addEventListener('pointerenter', () => single(!hidden.has(+series)));
  button.addEventListener('pointerleave', () => single(false));
  button.addEventListener('focus', () => single(!hidden.has(+series)));
  button.addEventListener('blur', () => single(false));
  button.addEventListener('click', () => {
    const off = !hidden.delete(+series);
    if (off) hidden.add(+series);
    single(!off);
    $(`.legend [data-series="${series}"]`).forEach(b => b.setAttribute('aria-pressed', !off));
    lines().forEach(l => { if (l.dataset.series === series) l.classList.toggle('off', off); });
  });
}

// The values under the pointer: a crosshair in every panel of a group, names in the one pointed at.
const svgElement = (kind, attributes, parent) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  parent.appendChild(element);
  return element;
};
const element = (kind, text, parent) => {
  const made = document.createElement(kind);
  made.textContent = text;
  parent.appendChild(made);
  return made;
};

for (const group of $('.panels')) {
  const metric = data[group.dataset.metric];
  const panels = $('.panel', group).map((figure, at) => {
    const svg = figure.querySelector('svg');
    const layer = svgElement('g', {}, svg);
    const tip = element('div', '', figure);
    tip.className = 'tip';
    tip.hidden = true;
    tip.setAttribute('role', 'status');
    return {figure, svg, layer, tip, lines: metric.panels[+group.dataset.first + at]};
  });

  const clear = () => panels.forEach(panel => {
    panel.layer.replaceChildren();
    panel.tip.hidden = true;
  });
  const shown = panel => panel.lines.filter(line => !hidden.has(line.series));
  // The impressions that any shown line of a panel has a point at: [[impression, x], ...].
  const stops = panel => [...new Map(shown(panel).flatMap(
    line => line.points.map(p => [p[0], p[3]])))].sort((a, b) => a[0] - b[0]);

  const mark = (panel, impression) => {
    panel.layer.replaceChildren();
    const found = [];
    for (const line of shown(panel)) {
      const point = line.points.find(p => p[0] === impression);
      if (point) found.push([line.series, point]);
    }
    if (!found.length) return found;
    const x = found[0][1][3];
    svgElement('line', {class: 'cross', x1: x, x2: x, y1: data.top, y2: data.bottom}, panel.layer);
    for (const [series, p] of found)
      svgElement('circle', {class: `dot ${data.series[series].colour}`, cx: p[3], cy: p[4], r: 4.5},
                 panel.layer);
    return found.sort((a, b) => b[1][1] - a[1][1]);
  };

  const show = (panel, impression) => {
    panel.now = impression;
    let found = [];
    for (const other of panels) {
      const marks = mark(other, impression);
      if (other === panel) found = marks; else other.tip.hidden = true;
    }
    const tip = panel.tip;
    tip.replaceChildren();
    tip.hidden = !found.length;
    if (!found.length) return;
    element('b', impression.toLocaleString('en') + (impression === 1 ? ' impression' : ' impressions'), tip);
    for (const [series, p] of found) {
      const row = element('div', '', tip);
      row.className = data.series[series].colour;
      element('i', '', row);
      element('span', data.series[series].name, row);
      const value = element('em', p[1].toFixed(metric.digits), row);
      if (p[2] !== null) element('small', ` (${p[2].toFixed(metric.digits)})`, value);
    }
    const box = panel.svg.getBoundingClientRect(), outer = panel.figure.getBoundingClientRect();
    const scale = box.width / panel.svg.viewBox.baseVal.width;
    const x = box.left - outer.left + found[0][1][3] * scale;
    const left = x + 14 + tip.offsetWidth < outer.width ? x + 14 : x - 14 - tip.offsetWidth;
    tip.style.left = Math.max(4, Math.min(left, outer.width - tip.offsetWidth - 4)) + 'px';
    tip.style.top = outer.height + 6 + 'px';  // below the panel, out of the lines' way
  };

  for (const panel of panels) {
    panel.svg.setAttribute('tabindex', '0');
    const point = event => {
      const box = panel.svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * panel.svg.viewBox.baseVal.width;
      let best = null;
      for (const stop of stops(panel))
        if (!best || Math.abs(stop[1] - x) < Math.abs(best[1] - x)) best = stop;
      if (best) show(panel, best[0]);
    };
    panel.svg.addEventListener('pointermove', point);
    panel.svg.addEventListener('pointerdown', point);
    panel.svg.addEventListener('pointerleave', clear);
    panel.svg.addEventListener('blur', clear);
    panel.svg.addEventListener('keydown', event => {
      const all = stops(panel).map(stop => stop[0]);
      const at = all.indexOf(panel.now);
      const to = {ArrowRight: at + 1, ArrowLeft: at < 0 ? all.length - 1 : at - 1,
                  Home: 0, End: all.length - 1}[event.key];
      if (event.key === 'Escape') clear();
      if (to === undefined || !all.length) return;
      event.preventDefault();
      show(panel, all[Math.max(0, Math.min(to, all.length - 1))]);
    });
  }
}
})();
)js";

}  // namespace plackett::report
