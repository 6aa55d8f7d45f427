// The report of a comparison: shows what results.json says (docs/formats/results.md).

import { drawDots, LineChart, redrawCharts } from './charts.js';
import { byId, element } from './dom.js';
import { count, decimal, missing, withSign } from './format.js';

const results = JSON.parse(byId('results').textContent);
const { measures, series, blocks, tables, test, scorecard, sweep, drift } = results;
const [offline, online, ...others] = measures;
const seriesColour = (label) => `--c${series.find((each) => each.label === label)?.colour ?? 0}`;

// Without it, what there is of the curves is in the tables.
const hasCurves = blocks.length === 0 || blocks.some(({ rows }) =>
  rows.some(({ curve }) => curve?.impression.length > 1));

// The charts of the page, in order. A new one is one more entry: a title, a sentence, and a
// function that fills an empty element.
const charts = [
  sweep && { id: 'sweep', title: `What ${sweep.setting} does`, draw: drawSweep,
    about: `The last values against ${sweep.setting}. Points are means over the runs, shades one `
      + 'standard error; the large point of a line is its best.' },
  drift && { id: 'drift', title: 'Under drift', draw: drawDrift,
    about: 'Online NDCG@10 of what users were shown, mean of each window of impressions, while the '
      + 'world changes: upright lines mark the drifts. Shades are one standard error.' },
  hasCurves && { id: 'curves', title: 'Learning curves', draw: (place) => drawCurves(place, offline),
    about: `NDCG@10 on the ${results.facts.split} queries against the impressions learned from`
      + `${drift ? '' : ', on a logarithmic axis'}. Lines are means over the runs, shades one `
      + 'standard error.' },
  hasCurves && { id: 'online', title: 'Online performance', draw: (place) => drawCurves(place, online),
    about: 'What users got while it learned: NDCG@10 of the rankings they were shown, summed so '
      + 'far; later impressions count a little less.' },
  hasCurves && others.length > 0 && { id: 'metrics',
    title: others.length > 1 ? 'Other metrics' : others[0].title,
    draw: (place) => drawChosen(place, others, drawCurves),
    about: `On the ${results.facts.split} queries, as the learning curves of NDCG@10.` },
].filter(Boolean);

// --- Lines in panels, one per click model, and their legends -------------------------------------

// Charts of the same lines, which their legends show and hide together.
const groupOf = (lines) => ({ lines, charts: [], buttons: [], hidden: new Set() });
const curveGroup = groupOf(series);
const sweepGroup = groupOf(sweep?.series ?? []);
const bestLine = { label: drift?.best, colour: 5, dash: 2 };
const driftGroup = groupOf([...series, bestLine]);

// Calls draw(panels) for each dataset: [{block, box}], a box to fill for every click model.
function drawPanels(place, draw, from = blocks) {
  const datasets = [...new Set(from.map((block) => block.dataset))];
  for (const dataset of datasets) {
    const panels = from.filter((block) => block.dataset === dataset)
      .map((block) => ({ block, box: element('div') }));
    if (datasets.length > 1) place.append(element('h3', dataset));
    place.append(element(`div.panels.of${Math.min(panels.length, 3)}`,
      ...panels.map(({ block, box }) =>
        element('figure.card.panel', element('figcaption', block.short_title), box))));
    draw(panels);
  }
}

// Calls draw(box, measure) for the measure that a button chooses, at first the first one.
function drawChosen(place, choices, draw) {
  const boxes = new Map();
  const buttons = choices.map((measure) => element('button',
    { type: 'button', 'data-measure': measure.name, onclick: () => choose(measure) },
    measure.title));
  const choose = (measure) => {
    for (const [at, each] of choices.entries()) {
      buttons[at].ariaPressed = String(each === measure);
      if (boxes.has(each)) boxes.get(each).hidden = each !== measure;
    }
    if (boxes.has(measure)) return;
    boxes.set(measure, element('div'));
    place.append(boxes.get(measure));
    draw(boxes.get(measure), measure);
  };
  if (choices.length > 1) {
    place.append(element('div.choices', { role: 'group', 'aria-label': 'Measure' }, buttons));
  }
  choose(choices[0]);
}

// A line chart in every panel. linesOf(block): as LineChart.update takes them; options: of the
// charts.
function drawLineCharts(place, { group, from, measure, fromZero, linesOf, options }) {
  place.append(legend(group));
  drawPanels(place, (panels) => {
    const yRange = rangeOf(panels.flatMap(({ block }) => linesOf(block)), measure, fromZero);
    const beside = panels.map(({ block, box }) => {
      const chart = new LineChart(box, { fixed: true, height: 280, yRange,
        writeY: (y, isTick) => (isTick ? String(Number(y.toFixed(3))) : decimal(y, measure.digits)),
        ...options, label: `${measure.title} ${options.label}, ${block.title}` });
      chart.update(linesOf(block), { ranges: block.bands,
        markers: (block.drifts ?? []).map(({ at, name }) => ({ x: at, text: name })) });
      return chart;
    });
    for (const chart of beside) {
      // The same moment in every panel of the dataset.
      chart.chart.options.onHover = (_, active) => {
        const x = active[0] && chart.chart.data.datasets[active[0].datasetIndex]
          .data[active[0].index].x;
        for (const other of beside.filter((each) => each !== chart)) {
          other.pointAt(x ?? null, { withTip: false });
        }
      };
      group.charts.push(chart);
    }
  }, from);
  showLines(group);
}

function drawCurves(place, measure) {
  drawLineCharts(place, { group: curveGroup, from: blocks, measure, fromZero: measure.from_zero,
    linesOf: ({ rows }) => rows.map((row) => ({ label: series[row.series].label,
      colour: colourOf(row), dash: series[row.series].dash, points: pointsOf(row, measure) })),
    options: { label: 'by impressions', xAxis: drift ? 'linear' : 'logarithmic',
      writeX: (x) => `${count(x)} impression${x === 1 ? '' : 's'}` } });
}

// What users were shown while the world changed, window by window, and the table of the measures.
function drawDrift(place) {
  const points = ({ windows, runs }, name) => windows.impression.map((x, at) => ({ x,
    y: windows[name].mean[at], spread: errorOf(windows[name].std[at], runs) }));
  drawLineCharts(place, { group: driftGroup, from: blocks.filter(({ drifts }) => drifts),
    measure: { title: 'Online NDCG@10', digits: 3, largest: 1 }, fromZero: false,
    linesOf: ({ rows }) => [
      { ...bestLine, colour: `--c${bestLine.colour}`, points: points(rows[0], 'best') },
      ...rows.map((row) => ({ label: series[row.series].label, colour: colourOf(row),
        dash: series[row.series].dash, points: points(row, 'online') }))],
    options: { label: 'by window', xAxis: 'linear',
      writeX: (x) => `up to ${count(x)} impressions` } });
  for (const table of drift.tables) {
    place.append(drawTable(table, { caption: table.title }), element('p.key', table.about));
  }
}

// The last values against the setting that was swept.
function drawSweep(place) {
  drawChosen(place, measures, (box, measure) => drawLineCharts(box, {
    group: sweepGroup, from: sweep.panels, measure, fromZero: false,
    linesOf: ({ lines }) => lines.map((line) => ({ label: sweep.series[line.series].label,
      colour: `--c${sweep.series[line.series].colour}`, dash: sweep.series[line.series].dash,
      dots: !line.level, points: line.x.map((x, at) => ({ x, y: line[measure.name].mean[at],
        spread: errorOf(line[measure.name].std[at], line.runs[at]) })) })),
    options: { label: `by ${sweep.setting}`, xAxis: sweep.logarithmic ? 'logarithmic' : 'linear',
      xValues: sweep.values, writeX: (x) => `${sweep.setting} ${x}` } }));
}

// As lines and dots are coloured.
const colourOf = (row) => `--c${series[row.series].colour}`;

const errorOf = (deviation, runs) => (missing(deviation) ? null : deviation / Math.sqrt(runs));

// The points that a logarithmic axis can show, with the standard errors of their means.
const pointsOf = ({ curve, runs }, { name }) => (curve?.impression ?? []).map((x, place) =>
  ({ x, y: curve[name].mean[place], spread: errorOf(curve[name].std[place], runs) }))
  .filter(({ x }) => x > 0);

// The range of all means and bands, with a little air, within the measure's bounds.
function rangeOf(lines, measure, fromZero) {
  const values = lines.flatMap(({ points }) => points.filter(({ y }) => y !== null)
    .flatMap(({ y, spread }) => [y - spread, y + spread]));
  const high = Math.max(...values);
  const low = fromZero ? 0 : Math.min(...values);
  const air = 0.04 * (high - low);
  return values.length === 0 ? [0, 1]
    : [Math.max(low - air, 0), Math.min(high + air, measure.largest ?? Infinity)];
}

function showLines({ lines, charts: shownIn, hidden }, single = null) {
  const shown = new Set(lines.map(({ label }) => label).filter((label) => !hidden.has(label)));
  for (const chart of shownIn) chart.show(shown, shown.has(single) ? single : null);
}

// One button per line: pointing at it singles the line out, pressing it hides it.
function legend(group) {
  const made = group.lines.map(({ label, colour, dash }) => element('button',
    { type: 'button', 'aria-pressed': String(!group.hidden.has(label)), 'data-series': label,
      onpointerenter: () => showLines(group, label), onpointerleave: () => showLines(group),
      onfocus: () => showLines(group, label), onblur: () => showLines(group),
      onclick: () => {
        if (!group.hidden.delete(label)) group.hidden.add(label);
        for (const button of group.buttons) {
          button.ariaPressed = String(!group.hidden.has(button.dataset.series));
        }
        showLines(group, label);
      } },
    element(`i.sample.dash${dash}`, { style: `color: var(--c${colour})` }), label));
  group.buttons.push(...made);
  return element(`div.legend${made.length > 12 ? '.still' : ''}`,
    { role: 'group', 'aria-label': 'Lines shown' }, made);
}

// --- Tables --------------------------------------------------------------------------------------

const markClass = { '▲': 'up', '△': 'up', '▼': 'down', '▽': 'down', '·': 'same' };
const markWords = { up: 'better', down: 'worse', same: 'no significant difference' };

function pText(p) {
  if (p < 1e-300) return '< 1e-300';
  if (p < 0.0001) return p.toExponential(1);
  return p.toFixed(p < 0.01 ? 4 : p < 0.1 ? 3 : 2);
}
const equals = (name, p) => `${name} ${p < 1e-300 ? '' : '= '}${pText(p)}`;

// A difference with half of its confidence interval, to one digit more than the means.
const interval = ({ difference, half_width: half }, { digits }) =>
  `${withSign(difference, digits + 1)} ± ${decimal(half, digits + 1)}`;

// The measure of a column of one of the tables: with several datasets each measure has a table.
const measureOf = (table, column) => measures[tables.length > 1 ? tables.indexOf(table) : column];

function marks(tests, measure) {
  const tip = tests.map((each, place) => markClass[each.mark]
    && `${each.mark} ${test.baselines[place]}: ${markWords[markClass[each.mark]]}, `
      + `${interval(each, measure)}, ${equals('p', each.p)}, ${equals('Holm', each.holm)} `
      + `(t = ${decimal(each.t, 2)}, ${each.degrees.toFixed(0)} degrees)`).filter(Boolean);
  if (tip.length === 0) return null;
  return withTip(element('span.marks', { tabindex: '0' },
    tests.map(({ mark }) => element('i', { class: markClass[mark] }, mark))), tip);
}

// Mean and deviation on a scale that a column has in common.
function whisker(cell, [low, high], label) {
  const part = (value) => `${(100 * (value - low)) / (high - low)}%`;
  const [mean, std] = [Number(cell?.mean), Number(cell?.std)];
  if (!cell || Number.isNaN(mean + std) || !(high > low)) return null;
  return element('div.whisker', { 'aria-hidden': 'true',
    style: `color: var(${seriesColour(label)}); --from: ${part(mean - std)}; `
      + `--to: ${part(mean + std)}; --at: ${part(mean)}` }, element('i'), element('b'));
}

function drawTable(table, { caption, withSpread = false }) {
  const { title, columns, sections, settings } = table;
  const cells = sections.flatMap(({ rows }) => rows.map((row) => row.cells[0])).filter(Boolean);
  const ends = cells.flatMap(({ mean, std }) => [mean - std, Number(mean) + Number(std)])
    .filter((value) => !Number.isNaN(value));
  const scale = [Math.min(...ends), Math.max(...ends)];
  const width = 1 + settings.length + columns.length + (withSpread ? 1 : 0);
  const spread = (made) => withSpread && element('td.spread', made);
  return element('div.card.scroll', { role: 'region', tabindex: '0',
    'aria-label': title || 'Results' },
  element('table', element('caption', caption),
    element('thead', element('tr', element('th', { scope: 'col' }, 'Method'),
      settings.map((name) => element('th.setting', { scope: 'col' }, name)), spread(''),
      columns.map((name) => element('th.number', { scope: 'col' }, name)))),
    sections.map((section) => element('tbody',
      element('tr.group',
        element('th', { scope: 'rowgroup', colspan: String(width) }, section.title)),
      section.rows.map(({ name, settings: chosen, cells: values }) => element('tr',
        element('th', { scope: 'row' }, name), chosen.map((value) => element('td.setting', value)),
        spread(whisker(values[0], scale, name)),
        values.map((cell, column) => element('td.number', cell && [
          element(cell.bold ? 'strong' : 'span', cell.mean),
          cell.std && element('span.std', ` (${cell.std})`),
          test.baselines.length > 0 && cell.std && (marks(cell.tests, measureOf(table, column))
            ?? element('span.marks', test.baselines.map(() => element('i'))))]))))))));
}

function drawResults(place) {
  for (const table of tables) {
    if (table.title) place.append(element('h3', table.title));
    place.append(drawTable(table, { withSpread: tables.length === 1,
      caption: 'Mean and (standard deviation) over the runs, after the last impression. Bold: best '
        + `${results.best_of_what}.` }));
  }
  if (test.baselines.length === 0) return;
  const tested = testedCells();
  const key = '▲ better, ▼ worse (p < 0.01); △ ▽ (p < 0.05); · no significant difference: ';
  place.append(element('p.key', key.split(/([▲▼△▽·])/).map((part) =>
    (markClass[part] ? element(`i.${markClass[part]}`, part) : part)),
    `${test.name}, two-tailed, not corrected for the number of tests, against `
    + `${test.baselines.map((name, at) =>
      (test.baselines.length > 1 ? `${at + 1}\u00a0${name}` : name)).join(', ')}. `
    + 'Point at the marks for the tests.'));
  if (tested.length > 0) place.append(drawDifferences(tested));
}

// Every test behind a mark, with what it is of.
function testedCells() {
  return tables.flatMap((table) => table.sections.flatMap((section) => section.rows
    .flatMap(({ name, cells }) => cells.flatMap((cell, column) => (cell?.tests ?? [])
      .map((each, place) => ({ ...each, kind: markClass[each.mark], method: name,
        baseline: test.baselines[place], measure: measureOf(table, column),
        setting: tables.length > 1 ? `${table.columns[column]} \u00b7 ${section.title}`
          : section.title })))))).filter(({ kind }) => kind);
}

// The differences from the baselines with their intervals, a table per measure.
function drawDifferences(tested) {
  const below = (name) => tested.filter((each) => each[name] < 0.05).length;
  return element('details.card', { open: tested.length <= 24 },
    element('summary', 'Differences from the baselines',
      element('small', ` ${below('p')} of ${tested.length} significant, ${below('holm')} after `
        + 'Holm\u2019s correction')),
    element('div.panels.of2', measures.map((measure) =>
      drawIntervals(measure, tested.filter((each) => each.measure === measure)))));
}

function drawIntervals(measure, tested) {
  const ends = tested.flatMap(({ difference, half_width: half }) =>
    [difference - half, difference + half]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const part = (value) => `${(100 * (value - low)) / (high - low || 1)}%`;
  // A row is a baseline if there are several, otherwise a method.
  const several = test.baselines.length > 1;
  const sectionOf = ({ setting, method }) => (several ? `${setting} \u00b7 ${method}` : setting);
  const row = (each) => element('tr',
    element('th', { scope: 'row' }, several ? each.baseline : each.method), element('td.spread',
      element(`div.whisker.signed.${each.kind}`, { 'aria-hidden': 'true',
        style: `--zero: ${part(0)}; --at: ${part(each.difference)}; `
          + `--from: ${part(each.difference - each.half_width)}; `
          + `--to: ${part(each.difference + each.half_width)}` }, element('i'), element('b'))),
    element('td.number', interval(each, measure)), element('td.number', pText(each.p)),
    element('td.number', pText(each.holm)));
  return element('div.scroll.differences', { role: 'region', tabindex: '0',
    'aria-label': `${measure.title}: differences` },
  element('table', element('caption', `${measure.title}: mean difference and its 95\u202f% `
    + 'confidence interval'),
  element('thead', element('tr', element('th', { scope: 'col' },
    several ? 'Against' : `Against ${test.baselines[0]}`), element('td.spread'),
    ['difference', 'p', 'p, Holm'].map((name) => element('th.number', { scope: 'col' }, name)))),
  [...new Set(tested.map(sectionOf))].map((group) => element('tbody',
    element('tr.group', element('th', { scope: 'rowgroup', colspan: '5' }, group)),
    tested.filter((each) => sectionOf(each) === group).map(row)))));
}

// --- The scorecard against the paper -------------------------------------------------------------

function drawScorecard(place) {
  const strips = element('div.panels.of2');
  place.append(strips);
  for (const measure of [offline, online]) {
    const scores = scorecard.scores.filter((score) =>
      score.measure === measure.name && score.standard_errors !== null);
    const within = scores.filter((score) => Math.abs(score.standard_errors) <= 2).length;
    const box = element('div');
    strips.append(element('figure.card.panel', element('figcaption', measure.title,
      element('small', ` ${within} of ${scores.length} within 2 standard errors`)), box));
    const { digits } = measure;
    const value = ({ mean, std }) => `${decimal(mean, digits)} (${decimal(std, digits)})`;
    drawDots(box, { range: [-5, 5], shaded: [-2, 2], step: 1,
      writeX: (x) => (x > 0 ? '+' : x < 0 ? '\u2212' : '') + Math.abs(x),
      label: `${measure.title}: difference to the paper in standard errors, one dot per cell; `
        + `${within} of ${scores.length} within 2`,
      rows: [...new Set(scores.map(({ label }) => label))],
      dots: scores.map((score) => ({ row: score.label, x: score.standard_errors,
        colour: seriesColour(score.label),
        tip: [score.label, score.setting, `here ${value(score.here)}`,
          `paper ${value(score.paper)}`, `${decimal(score.standard_errors, 1)} standard errors`] })) });
  }
  place.append(element('details.card', { open: scorecard.scores.length <= 72 },
    element('summary', 'Every number beside the paper\u2019s'),
    drawTable(scorecard.table, { caption: 'Errors: the difference of the two means in standard '
      + `errors of it, √(s₁²/n₁ + s₂²/${scorecard.paper_runs}). ${scorecard.note}` })));
}

// --- Tips, sections, and the rest of the page ----------------------------------------------------

const bubble = element('div.tip', { role: 'status', hidden: true });

// Shows these lines below the element while it is pointed at or has the focus.
function withTip(target, lines) {
  const show = () => {
    bubble.replaceChildren(...lines.map((line) => element('div', line)));
    bubble.hidden = false;
    const box = target.getBoundingClientRect();
    const room = document.documentElement.clientWidth - bubble.offsetWidth - 8;
    bubble.style.left = `${scrollX + Math.max(8, Math.min(box.left, room))}px`;
    bubble.style.top = `${box.bottom + scrollY + 8}px`;
  };
  const hide = () => { bubble.hidden = true; };
  target.setAttribute('aria-label', lines.join('; '));
  for (const on of ['pointerenter', 'focus']) target.addEventListener(on, show);
  for (const off of ['pointerleave', 'blur']) target.addEventListener(off, hide);
  return target;
}

function addSection({ id, title, about, draw }) {
  const place = element('div');
  byId('main').append(element('section', { 'aria-labelledby': id },
    element('h2', { id }, title), about && element('p.about', about), place));
  draw(place);
}

// The numbers at the top: [what, value, note].
function cards() {
  const rows = blocks.flatMap((block) => block.rows.map((row) => ({ ...row, block })));
  const best = [offline, online].flatMap(({ name, title, digits }) => {
    const known = rows.filter((row) => row[name].mean !== null);
    if (known.length === 0) return [];
    const row = known.reduce((a, b) => (b[name].mean > a[name].mean ? b : a));
    return [[`Best ${title}`, decimal(row[name].mean, digits),
      `${series[row.series].label} \u00b7 ${row.block.title}`]];
  });
  const kinds = testedCells().map(({ kind }) => kind);
  const counted = (kind) => kinds.filter((each) => each === kind).length;
  const errors = (scorecard?.scores ?? []).map((score) => score.standard_errors)
    .filter((each) => each !== null);
  return [...best,
    kinds.length > 0 && ['Better than a baseline', `${counted('up')} of ${kinds.length}`,
      `${counted('down')} worse, ${counted('same')} undecided`],
    errors.length > 0 && ['As the paper has it',
      `${errors.filter((each) => Math.abs(each) <= 2).length} of ${errors.length}`,
      'within 2 standard errors'],
    ['Runs', count(rows.reduce((sum, row) => sum + row.runs, 0)),
      `of ${results.facts.impressions} impressions each`]].filter(Boolean);
}

function drawFindings(place) {
  place.append(element('dl.findings', results.findings.map(({ lead, sentences }) =>
    element('div', element('dt', lead),
      sentences.map((sentence) => element('dd', sentence))))));
}

const protocolNotes = { described: 'described: as the paper\u2019s text has it',
  published: 'published: as the paper\u2019s numbers were made' };

function drawMaking(place) {
  const { facts, plackett, command } = results;
  const rows = [['Dataset', facts.datasets],
    ['Protocol', protocolNotes[facts.protocols] ?? facts.protocols],
    ['Runs of each method', facts.runs], ['Impressions per run', facts.impressions],
    ['Measured', !hasCurves && 'after the last impression only'],
    ['Seed', facts.seeds], ['Version', plackett && `plackett ${plackett}`]];
  const made = element('div.card.made', element('dl',
    rows.filter(([, value]) => value).map(([name, value]) =>
      element('div', element('dt', name), element('dd', value)))));
  place.append(made);
  if (!command) return;
  const text = element('pre', { id: 'command' }, command);
  const copy = element('button', { type: 'button', onclick: async () => {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(text);
      copy.textContent = 'Selected';
    }
    setTimeout(() => { copy.textContent = 'Copy'; }, 1600);
  } }, 'Copy');
  made.append(element('div.command', text, copy));
}

const root = document.documentElement;
const isDark = () => (root.dataset.theme
  ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);

function useTheme(theme) {
  if (theme) root.dataset.theme = theme;
  byId('theme').textContent = isDark() ? 'Light' : 'Dark';
  redrawCharts();
}

byId('theme').addEventListener('click', () => {
  useTheme(isDark() ? 'light' : 'dark');
  try { localStorage.setItem('plackett-theme', root.dataset.theme); } catch { /* not kept */ }
});
let stored = null;
try { stored = localStorage.getItem('plackett-theme'); } catch { /* not kept */ }
addEventListener('beforeprint', () => { stored = root.dataset.theme; useTheme('light'); });
addEventListener('afterprint', () => {
  delete root.dataset.theme;
  useTheme(stored);
});

byId('title').textContent = results.title;
byId('headline').textContent = results.headline.replaceAll(' (', '\u00a0(');
byId('version').textContent = results.plackett && ` ${results.plackett}`;
document.body.append(bubble);
useTheme(['light', 'dark'].includes(stored) ? stored : '');
if (blocks.length > 0) {
  byId('facts').textContent = results.facts.line;
  if (results.selection) byId('facts').append(element('br'), results.selection);
  byId('cards').append(...cards().map(([label, value, note]) => element('li.card',
    element('span', label), element('b', value), element('small', note))));
  if (results.findings.length > 0) {
    addSection({ id: 'findings', title: 'Findings', draw: drawFindings,
      about: `Two means are called different if their test (${test.name}) has p < 0.05. `
        + '\u00b1: half of the 95\u202f% confidence interval of the difference.' });
  }
  charts.forEach(addSection);
  addSection({ id: 'table', title: 'Results', draw: drawResults, about: results.selection });
  if (scorecard) {
    addSection({ id: 'paper', title: 'Beside the paper', draw: drawScorecard,
      about: `${scorecard.agreement} ${scorecard.remark}` });
  }
  addSection({ id: 'made', title: 'How it was made', draw: drawMaking,
    about: 'Everything needed to make the same numbers again: a run is a function of its settings '
      + 'and its seed.' });
}
