// A line over time or over a count, drawn in SVG: one series, reference lines, markers, and the
// value under the pointer.

import { element, svg_element } from './dom.js';
import { round_range, round_ticks, time_label, time_ticks } from './scales.js';

const kMargin = { top: 14, right: 12, bottom: 26, left: 46 };

const finite = (value) => value !== null && Number.isFinite(value);

function x_ticks(low, high, wanted, over_time) {
  if (!over_time) return round_ticks(low, high, wanted, 1).map((at) => ({ at, label: compact(at) }));
  const { ticks, step_ms } = time_ticks(low, high, wanted);
  return ticks.map((at) => ({ at, label: time_label(at, step_ms) }));
}

function compact(value) {
  return value >= 10000 ? `${Number((value / 1000).toFixed(1))}k` : String(Math.round(value));
}

export class Chart {
  // label: what a reader who cannot see it is told. write_y: a value as text. write_x: as text
  // under the pointer. over_time: x counts milliseconds since 1970. y_range: fixed, else fitted.
  // least_width: of the range of x.
  constructor(container, { label, write_y, write_x, over_time = false, y_range = null,
    from_zero = false, least_width = 1, height = 190, empty = 'Nothing yet' }) {
    this.container_ = container;
    this.options_ = { label, write_y, write_x, over_time, y_range, from_zero, least_width, height,
      empty };
    this.points_ = [];
    this.references_ = [];
    this.markers_ = [];
    this.pointer_x_ = null;
    this.svg_ = svg_element('svg', { class: 'chart', role: 'img', 'aria-label': label });
    this.tip_ = element('div', { class: 'chart-tip', hidden: true, 'aria-hidden': 'true' });
    container.classList.add('chart-box');
    container.replaceChildren(this.svg_, this.tip_);
    this.svg_.addEventListener('pointermove', (event) => this.point_at_(event));
    this.svg_.addEventListener('pointerleave', () => this.leave_());
    new ResizeObserver(() => this.draw_()).observe(container);
  }

  // points: [{x, y}], x rising; a null y breaks the line. references: [{y, label}], dashed and
  // level. markers: [{x, label}], upright.
  update(points, { references = [], markers = [] } = {}) {
    this.points_ = points;
    this.references_ = references.filter((reference) => finite(reference.y));
    this.markers_ = markers;
    this.draw_();
  }

  draw_() {
    const width = Math.round(this.container_.clientWidth);
    if (width === 0) return;
    const { height, label, write_y, empty } = this.options_;
    this.svg_.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg_.setAttribute('width', width);
    this.svg_.setAttribute('height', height);
    const known = this.points_.filter((point) => finite(point.y));
    this.container_.dataset.points = String(known.length);
    if (known.length === 0) {
      this.svg_.replaceChildren(svg_element('text',
        { x: width / 2, y: height / 2, class: 'chart-empty' }, empty));
      this.svg_.setAttribute('aria-label', `${label}: ${empty}`);
      return;
    }
    this.svg_.setAttribute('aria-label', `${label}: ${write_y(known.at(-1).y)} at last`);
    this.fit_(width, height, known);
    this.svg_.replaceChildren(this.grid_(width, height), this.reference_lines_(width),
      this.marker_lines_(height), this.line_(height), this.last_dot_(known), this.cross_());
    this.draw_pointer_();
  }

  fit_(width, height, known) {
    const first_x = this.points_[0].x;
    const last_x = Math.max(this.points_.at(-1).x, first_x + this.options_.least_width);
    const values = [...known, ...this.references_].map((point) => point.y);
    const low = this.options_.from_zero ? 0 : Math.min(...values);
    const [from, to] = this.options_.y_range ?? round_range(low, Math.max(...values), 4);
    const inner_width = width - kMargin.left - kMargin.right;
    const inner_height = height - kMargin.top - kMargin.bottom;
    this.x_range_ = [first_x, last_x];
    this.y_range_ = [from, to];
    this.x_ = (x) => kMargin.left + inner_width * (x - first_x) / (last_x - first_x);
    this.y_ = (y) => kMargin.top + inner_height * (1 - (y - from) / (to - from));
  }

  grid_(width, height) {
    const group = svg_element('g', {});
    for (const at of round_ticks(...this.y_range_, 4)) {
      const y = this.y_(at);
      group.append(
        svg_element('line', { class: 'chart-grid', x1: kMargin.left, x2: width - kMargin.right,
          y1: y, y2: y }),
        svg_element('text', { class: 'chart-y', x: kMargin.left - 8, y: y + 4 },
          this.options_.write_y(at, true)));
    }
    const wanted = Math.max(1, Math.floor((width - kMargin.left) / 90));
    for (const { at, label } of x_ticks(...this.x_range_, wanted, this.options_.over_time)) {
      const x = Math.min(this.x_(at), width - kMargin.right - label.length * 2.6);
      group.append(svg_element('text', { class: 'chart-x', x, y: height - 7 }, label));
    }
    return group;
  }

  reference_lines_(width) {
    const group = svg_element('g', {});
    for (const { y, label } of this.references_) {
      const at = this.y_(y);
      const above = at > kMargin.top + 18;
      group.append(
        svg_element('line', { class: 'chart-reference', x1: kMargin.left,
          x2: width - kMargin.right, y1: at, y2: at }),
        svg_element('text', { class: 'chart-reference-label', x: width - kMargin.right,
          y: above ? at - 5 : at + 14 }, label));
    }
    return group;
  }

  marker_lines_(height) {
    const group = svg_element('g', {});
    for (const [place, { x, label }] of this.markers_.entries()) {
      if (x < this.x_range_[0] || x > this.x_range_[1]) continue;
      const at = this.x_(x);
      const on_right = at > (this.x_(this.x_range_[0]) + this.x_(this.x_range_[1])) / 2;
      group.append(
        svg_element('line', { class: 'chart-marker', x1: at, x2: at, y1: kMargin.top,
          y2: height - kMargin.bottom }),
        svg_element('text', { class: on_right ? 'chart-marker-label chart-end' : 'chart-marker-label',
          x: at + (on_right ? -5 : 5), y: kMargin.top + 44 + 15 * (place % 3) }, label));
    }
    return group;
  }

  line_(height) {
    const pieces = [[]];
    for (const point of this.points_) {
      if (finite(point.y)) pieces.at(-1).push(point);
      else if (pieces.at(-1).length > 0) pieces.push([]);
    }
    const group = svg_element('g', {});
    const base = height - kMargin.bottom;
    for (const piece of pieces) {
      if (piece.length < 2) continue;
      const path = 'M' + piece.map((point) =>
        `${this.x_(point.x).toFixed(1)} ${this.y_(point.y).toFixed(1)}`).join('L');
      const [from, to] = [this.x_(piece[0].x), this.x_(piece.at(-1).x)];
      group.append(
        svg_element('path', { class: 'chart-area', d: `${path}L${to} ${base}L${from} ${base}Z` }),
        svg_element('path', { class: 'chart-line', d: path }));
    }
    return group;
  }

  last_dot_(known) {
    const last = known.at(-1);
    return svg_element('circle', { class: 'chart-dot', r: 4, cx: this.x_(last.x),
      cy: this.y_(last.y) });
  }

  cross_() {
    this.pointer_ = svg_element('g', { class: 'chart-pointer', visibility: 'hidden' },
      svg_element('line', { y1: kMargin.top, y2: this.options_.height - kMargin.bottom }),
      svg_element('circle', { r: 4 }));
    return this.pointer_;
  }

  point_at_(event) {
    this.pointer_x_ = event.clientX - this.svg_.getBoundingClientRect().left;
    this.draw_pointer_();
  }

  draw_pointer_() {
    const known = this.points_.filter((point) => finite(point.y));
    if (this.pointer_x_ === null || known.length === 0) return;
    const distance = (point) => Math.abs(this.x_(point.x) - this.pointer_x_);
    const nearest = known.reduce((best, point) => distance(point) < distance(best) ? point : best);
    const [x, y] = [this.x_(nearest.x), this.y_(nearest.y)];
    const [line, dot] = this.pointer_.children;
    line.setAttribute('x1', x);
    line.setAttribute('x2', x);
    dot.setAttribute('cx', x);
    dot.setAttribute('cy', y);
    this.pointer_.setAttribute('visibility', 'visible');
    this.tip_.replaceChildren(element('b', {}, this.options_.write_y(nearest.y)),
      element('span', {}, this.options_.write_x(nearest.x)));
    this.tip_.hidden = false;
    const room = this.container_.clientWidth - this.tip_.offsetWidth;
    this.tip_.style.left = `${Math.max(0, Math.min(room, x - this.tip_.offsetWidth / 2))}px`;
    this.tip_.style.top = `${Math.max(-8, y - this.tip_.offsetHeight - 12)}px`;
  }

  leave_() {
    this.pointer_x_ = null;
    this.tip_.hidden = true;
    this.pointer_?.setAttribute('visibility', 'hidden');
  }
}
