// Charts for every page, over Chart.js (the global `Chart`): lines with bands, reference lines,
// markers and the values under the pointer or the arrow keys; and dots in rows.

import { element } from './dom.js';
import { missing } from './format.js';

const all = new Set();
const probe = element('span', { hidden: true });

// The colour of a CSS variable ("--accent") in the scheme of the page as it is now.
function colour(name, opacity = 1) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  const solid = getComputedStyle(probe).color;
  return opacity === 1 ? solid : solid.replace('rgb(', 'rgba(').replace(')', `, ${opacity})`);
}

// Draws every chart again, in the colours that the page has now.
export function redrawCharts() {
  for (const chart of all) {
    chart.setActiveElements([]);
    chart.tooltip?.setActiveElements([], { x: 0, y: 0 });
    chart.update('none');
  }
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawCharts);

const font = { family: 'Inter, ui-sans-serif, system-ui, sans-serif', size: 12 };
const dashes = [[], [7, 5], [1, 5]];
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

function compact(value) {
  const units = ['', 'k', 'M', 'B'];
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return Number(value.toPrecision(3)) + units[unit];
}

const markerRow = 15; // the height of a row of markers' names
const markerRows = (markers) => Math.min(markers.length, 3);

// What Chart.js does not draw itself: text where there is no point, reference lines, markers,
// shaded ranges of x, and a line through the points under the pointer.
const extras = {
  id: 'extras',
  beforeDatasetsDraw(chart, _, { shaded, ranges = [] }) {
    const { ctx, chartArea, scales } = chart;
    const fill = (range, name) => {
      const [from, to] = range.map((x) => scales.x.getPixelForValue(x));
      ctx.fillStyle = colour(name, 0.12);
      ctx.fillRect(from, chartArea.top, to - from, chartArea.bottom - chartArea.top);
    };
    if (shaded) fill(shaded, '--up');
    for (const one of ranges) fill(one, '--muted');
  },
  afterDatasetsDraw(chart, _, { references = [], markers = [], empty }) {
    const { ctx, chartArea: { left, right, top, bottom }, scales } = chart;
    const line = (x1, y1, x2, y2, name, dash) => {
      ctx.strokeStyle = colour(name);
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x2, y2);
      ctx.stroke();
    };
    const label = (text, x, y, align, name) => {
      ctx.textAlign = align;
      ctx.strokeStyle = colour('--card');
      ctx.setLineDash([]);
      ctx.lineWidth = 4;
      ctx.strokeText(text, x, y);
      ctx.fillStyle = colour(name);
      ctx.fillText(text, x, y);
      ctx.lineWidth = 1.25;
    };
    ctx.save();
    ctx.font = `${font.size}px ${font.family}`;
    ctx.lineWidth = 1.25;
    if (empty) label(empty, (left + right) / 2, (top + bottom) / 2, 'center', '--muted');
    for (const { y, text, colour: name = '--muted', isBelow = false } of references) {
      const at = scales.y.getPixelForValue(y);
      line(left, at, right, at, name, [5, 5]);
      const isUnder = at <= top + 18 || (isBelow && at < bottom - 18);
      label(text, right, isUnder ? at + 14 : at - 5, 'right', name);
    }
    // Names stand above the lines, each in the lowest row that has room, or not at all.
    const ends = new Array(markerRows(markers)).fill(-Infinity);
    for (const { x, text } of markers) {
      const at = scales.x.getPixelForValue(x);
      line(at, top, at, bottom, '--wanted', [2, 3]);
      const width = ctx.measureText(text).width;
      const from = Math.max(left, Math.min(at - width / 2, right - width));
      const row = ends.findIndex((end) => end + 8 <= from);
      if (row < 0) continue;
      ends[row] = from + width;
      label(text, from, top - 6 - markerRow * row, 'left', '--wanted');
    }
    const active = chart.getActiveElements();
    if (active.length > 0 && chart.config.type === 'line') {
      line(active[0].element.x, top, active[0].element.x, bottom, '--muted', [3, 3]);
    }
    ctx.restore();
  },
};

const axis = (more) => ({
  border: { display: false }, grid: { display: false }, ...more,
  ticks: { color: () => colour('--muted'), font, maxRotation: 0, ...more.ticks },
});

function makeChart(container, { label, height }, config) {
  const canvas = element('canvas', { role: 'img', 'aria-label': label, tabindex: '0' });
  container.classList.add('chart-box');
  container.style.height = `${height}px`;
  container.replaceChildren(canvas);
  const chart = new Chart(canvas, {
    plugins: [extras],
    ...config,
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, ...config.options,
      plugins: {
        legend: { display: false },
        ...config.options.plugins,
        tooltip: {
          backgroundColor: () => colour('--ink'), titleColor: () => colour('--paper'),
          bodyColor: () => colour('--paper'), titleFont: font, bodyFont: font, padding: 10,
          cornerRadius: 8, boxWidth: 8, boxHeight: 8, boxPadding: 5, usePointStyle: true,
          ...config.options.plugins.tooltip,
        },
      },
    },
  });
  all.add(chart);
  return chart;
}

export class LineChart {
  // label: for readers who cannot see it. xAxis: 'linear', 'logarithmic' or 'time' (milliseconds
  // since 1970). yRange: [low, high], null for a bound that is fitted; widened to round values, to
  // the data and to the references unless `fixed`, but not beyond `bounds`. writeY(y, step),
  // writeX(x): values as text; step: between ticks, for a tick. leastWidth: of the range of x.
  // xValues: all that x can be, rising; they are the ticks, and the range of x has some air around
  // them.
  constructor(container, { label, writeY, writeX, xAxis = 'linear', yRange = [null, null],
    bounds = [-Infinity, Infinity], fixed = false, leastWidth = 1, height = 190,
    xValues = null, empty = 'Nothing yet' }) {
    this.container = container;
    this.options = { label, writeY, xAxis, leastWidth, xValues, empty };
    const [low, high] = yRange;
    this.chart = makeChart(container, { label, height }, {
      type: 'line',
      data: { datasets: [] },
      options: {
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        scales: {
          x: axis({ type: xAxis === 'time' ? 'linear' : xAxis, ...this.xTicks(xAxis) }),
          y: axis({
            ...(fixed ? { min: low, max: high } : { suggestedMin: low, suggestedMax: high }),
            afterDataLimits: (scale) => {
              const marks = fixed ? [] : scale.chart.options.plugins.extras?.references ?? [];
              const ys = marks.map(({ y }) => y);
              scale.min = Math.max(Math.min(scale.min, ...ys), bounds[0]);
              scale.max = Math.min(Math.max(scale.max, ...ys), bounds[1]);
            },
            grid: { color: () => colour('--line'), drawTicks: false, drawBorder: false },
            ticks: { padding: 8, maxTicksLimit: 6, includeBounds: !fixed,
              callback: (y, _, ticks) => writeY(y, stepOf(ticks)) },
          }),
        },
        plugins: {
          tooltip: {
            filter: ({ dataset }) => !dataset.isBand,
            itemSort: (a, b) => b.parsed.y - a.parsed.y,
            callbacks: {
              title: ([first]) => (first ? writeX(first.parsed.x) : ''),
              label: ({ chart, dataset, dataIndex, parsed }) => {
                const { spread, text } = dataset.data[dataIndex];
                const name = cut(dataset.label, Math.min(40, chart.width / 18));
                return (name && `${name}  `) + (text ?? writeY(parsed.y)
                  + (missing(spread) ? '' : ` (${writeY(spread)})`));
              },
            },
          },
        },
      },
    });
    this.chart.canvas.addEventListener('keydown', (event) => this.onKey(event));
  }

  // lines: [{label, colour: '--c0', dash, area, dots, points: [{x, y, spread, low, high, text}]}],
  // x rising; a null y breaks the line, `spread` around y, or low and high, are drawn as a band,
  // `text` is told instead of y; `dots` marks every point and most the highest. references: [{y,
  // text, colour, isBelow}], level, the text above the line or below it. markers: [{x, text}],
  // upright. ranges: [[from, to]], shaded ranges of x.
  update(lines, more) {
    const { references = [], markers = [], ranges = [] } = more ?? {};
    const known = lines.flatMap(({ points }) => points.filter(({ y }) => !missing(y)));
    const xs = lines.flatMap(({ points }) => points.map(({ x }) => x));
    const [first, last] = [Math.min(...xs), Math.max(...xs)];
    const { label, writeY, leastWidth, xAxis, xValues, empty } = this.options;
    const { x } = this.chart.options.scales;
    x.min = xs.length ? first : 1;
    x.max = xs.length ? Math.max(last, xAxis === 'logarithmic' ? 10 * (first === last) * first : 0,
      first + leastWidth) : 10;
    if (xValues) [x.min, x.max] = withAir(xValues[0], xValues.at(-1), xAxis === 'logarithmic');
    this.chart.data.datasets = lines.flatMap((line) => [...bands(line), mainLine(line)]);
    const within = markers.filter((marker) => marker.x >= x.min && marker.x <= x.max);
    this.chart.options.layout = { padding: { top: markerRow * markerRows(within) } };
    this.chart.options.plugins.extras = {
      empty: known.length === 0 ? empty : '',
      references: references.filter(({ y }) => !missing(y)),
      markers: within,
      ranges: ranges.map((range) => range.map((at) => Math.min(Math.max(at, x.min), x.max))),
    };
    this.container.dataset.points = String(known.length);
    const said = known.length === 0 ? empty
      : lines.map((line) => `${line.label ?? ''} ${writeY(lastOf(line))}`.trim()).join(', ');
    this.chart.canvas.setAttribute('aria-label',
      [`${label}: ${said}`, ...references.map(({ text }) => text)].join('; '));
    this.chart.update('none');
  }

  // Shows only these lines (a set of labels), and the others than `single` faintly.
  show(labels, single = null) {
    this.chart.data.datasets.forEach((dataset, place) => {
      dataset.isFaint = single !== null && dataset.name !== single;
      this.chart.setDatasetVisibility(place, labels.has(dataset.name));
    });
    this.chart.update('none');
  }

  // Marks the points at one x; `withTip` as if the pointer were there. null: none.
  pointAt(x, { withTip = true } = {}) {
    const found = this.chart.data.datasets.flatMap((dataset, datasetIndex) => {
      const index = dataset.data.findIndex((point) => point.x === x);
      return index < 0 || dataset.isBand || !this.chart.isDatasetVisible(datasetIndex) ? []
        : [{ datasetIndex, index }];
    });
    this.chart.setActiveElements(found);
    this.chart.tooltip.setActiveElements(withTip ? found : [], { x: 0, y: 0 });
    this.chart.update('none');
  }

  onKey(event) {
    const shown = this.chart.data.datasets.filter((dataset, place) =>
      !dataset.isBand && this.chart.isDatasetVisible(place));
    const stops = [...new Set(shown.flatMap(({ data }) => data.map(({ x }) => x)))]
      .sort((a, b) => a - b);
    const at = stops.indexOf(this.chart.tooltip.dataPoints?.[0]?.parsed.x);
    const to = { ArrowRight: at + 1, ArrowLeft: at < 0 ? stops.length - 1 : at - 1, Home: 0,
      End: stops.length - 1, Escape: null }[event.key];
    if (to === undefined || stops.length === 0) return;
    event.preventDefault();
    this.pointAt(to === null ? null : stops[Math.max(0, Math.min(to, stops.length - 1))]);
  }

  xTicks(xAxis) {
    if (xAxis === 'time') {
      return { afterBuildTicks: (scale) => {
        scale.ticks = timeTicks(scale.min, scale.max, Math.floor(scale.width / 90));
      }, ticks: { callback: (_, place, ticks) => ticks[place].label } };
    }
    const { xValues } = this.options;
    if (xValues) {
      return { afterBuildTicks: (scale) => {
        scale.ticks = roomyTicks(xValues, scale, xAxis === 'logarithmic');
      }, ticks: { autoSkip: false, callback: compact } };
    }
    if (xAxis === 'linear') return { ticks: { callback: compact, maxTicksLimit: 7, precision: 0 } };
    return { ticks: { autoSkip: false, callback: (x, _, ticks) => {
      const digit = x / 10 ** Math.floor(Math.log10(x) + 1e-9);
      const isDense = ticks.at(-1).value < 99 * ticks[0].value;
      return digit < 1.001 || (isDense && [2, 5].includes(Math.round(digit))) ? compact(x) : null;
    } } };
  }
}

const stepOf = (ticks) => (ticks.length > 1 ? Math.abs(ticks[1].value - ticks[0].value) : 1);

// --- An axis of given values ---

const placeOn = (isLogarithmic) => (isLogarithmic ? Math.log : (x) => x);

function withAir(low, high, isLogarithmic) {
  if (isLogarithmic) return [low / (high / low) ** 0.05, high * (high / low) ** 0.05];
  const air = 0.05 * (high - low);
  return [low - air, high + air];
}

// Those of the values whose labels have room beside each other.
function roomyTicks(values, { width, min, max }, isLogarithmic) {
  const place = placeOn(isLogarithmic);
  const scale = width / (place(max) - place(min));
  let end = -Infinity;
  return values.filter((x) => {
    const half = 4 * compact(x).length + 4;
    if (place(x) * scale - half < end) return false;
    end = place(x) * scale + half;
    return true;
  }).map((value) => ({ value }));
}

// --- Places on a time axis ---

const stepsMs = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
  43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000].map((s) => s * 1000);

// About `wanted` places that fall on whole seconds, minutes, hours or days of the reader's clock.
function timeTicks(lowMs, highMs, wanted) {
  const rough = (highMs - lowMs) / Math.max(1, wanted);
  const stepMs = stepsMs.find((each) => each >= rough) ?? stepsMs.at(-1);
  const zoneMs = new Date(highMs).getTimezoneOffset() * 60000;
  const first = Math.ceil((lowMs - zoneMs) / stepMs) * stepMs + zoneMs;
  const ticks = [];
  for (let at = first; at <= highMs; at += stepMs) {
    ticks.push({ value: at, label: timeLabel(at, stepMs) });
  }
  return ticks;
}

function timeLabel(atMs, stepMs) {
  const at = new Date(atMs);
  if (stepMs >= 86400000) return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const shown = { hour: '2-digit', minute: '2-digit' };
  if (stepMs < 60000) shown.second = '2-digit';
  return at.toLocaleTimeString('en-GB', shown);
}

// --- What Chart.js draws ---

const lastOf = ({ points }) => points.findLast(({ y }) => !missing(y))?.y ?? null;

function mainLine({ label = '', points, colour: name = '--accent', dash = 0, area = false,
  dots = false }) {
  const last = points.findLastIndex(({ y }) => !missing(y));
  const highest = Math.max(...points.map(({ y }) => (missing(y) ? -Infinity : y)));
  const radius = (at) => {
    if (dots) return points[at]?.y === highest ? 6 : 3.5;
    return area && at === last ? 4 : points.length === 1 ? 3 : 0;
  };
  return {
    name: label, label, data: points, borderDash: dashes[dash], borderWidth: 2.25,
    borderCapStyle: 'round', borderJoinStyle: 'round', pointStyle: 'circle',
    fill: area ? 'start' : false,
    backgroundColor: (context) => (context.type === 'dataset' ? colour(name, 0.1) : colour(name)),
    borderColor: ({ dataset }) => colour(name, dataset?.isFaint ? 0.12 : 1),
    pointRadius: ({ dataIndex }) => radius(dataIndex),
    pointBackgroundColor: ({ dataset }) => colour(name, dataset?.isFaint ? 0.12 : 1),
    pointHoverRadius: ({ dataIndex }) => Math.max(4.5, radius(dataIndex)),
    pointBorderWidth: dots ? 1.5 : 2, pointBorderColor: () => colour('--card'),
    pointHoverBorderColor: () => colour('--card'),
  };
}

// Two lines that are not drawn, with the space between them filled.
function bands({ label = '', points, colour: name = '--accent' }) {
  if (points.every(({ spread, low }) => missing(spread) && missing(low))) return [];
  const edge = (placeOf) => ({
    name: label, isBand: true, borderWidth: 0, pointRadius: 0, pointHoverRadius: 0,
    data: points.map((point) => ({ x: point.x, y: missing(point.y) ? null : placeOf(point) })),
    backgroundColor: ({ dataset }) => colour(name, dataset?.isFaint ? 0.03 : 0.13),
  });
  return [{ ...edge(({ y, spread, low }) => low ?? y - spread), fill: false },
    { ...edge(({ y, spread, high }) => high ?? y + spread), fill: '-1' }];
}

// Dots in one row per name. dots: [{row, x, colour, tip: [line, ...]}]; x outside of `range` is
// drawn at its border. shaded: [from, to], if any. writeX(x): ticks as text. step: between ticks.
export function drawDots(container, { label, rows, dots, range, shaded, writeX, step }) {
  const [low, high] = range;
  return makeChart(container, { label, height: 60 + 30 * rows.length }, {
    type: 'scatter',
    data: { datasets: [{
      data: dots.map(({ row, x }) => ({ x: Math.max(low, Math.min(high, x)), y: row })),
      pointRadius: 5.5, pointHoverRadius: 7, pointBorderWidth: 1.5, clip: false,
      pointBackgroundColor: ({ dataIndex }) => colour(dots[dataIndex]?.colour ?? '--ink', 0.85),
      pointBorderColor: () => colour('--card'),
    }] },
    options: {
      scales: {
        x: axis({ min: low, max: high, grid: { drawTicks: false, drawBorder: false,
          color: ({ tick }) => colour(tick?.value === 0 ? '--field' : '--line') },
        ticks: { padding: 8, stepSize: step, callback: (x) => writeX(x) } }),
        y: axis({ type: 'category', labels: rows, offset: true,
          ticks: { padding: 8, callback: (place) => cut(rows[place], 24) } }),
      },
      plugins: {
        extras: { shaded },
        tooltip: { displayColors: false, callbacks: {
          title: ([first]) => dots[first.dataIndex].tip[0],
          label: ({ dataIndex }) => dots[dataIndex].tip.slice(1),
        } },
      },
    },
  });
}
