// NDCG@10 of the order the model would show now, against the impressions so far.

import { Chart } from './chart.js';
import { set_text } from './dom.js';
import { count, decimal } from './format.js';

const kMostPoints = 500;
const kMostMarkers = 6;

export class QualityPanel {
  constructor(container, number) {
    this.number_ = number;
    this.chart_ = new Chart(container, { label: 'NDCG@10 over impressions', height: 152,
      y_range: [0, 1], least_width: 40, write_y: (y, tick) => decimal(y, tick ? 1 : 3),
      write_x: (x) => `after ${count(x)} impressions` });
    this.chance_ = null;
    this.clear();
  }

  clear() {
    this.points_ = [];
    this.markers_ = [];
    this.draw_();
  }

  set_chance(quality) {
    this.chance_ = quality;
    this.draw_();
  }

  add(impressions, quality) {
    this.points_.push({ x: impressions, y: quality });
    if (this.points_.length > kMostPoints) {
      this.points_ = this.points_.filter((_, place) => place % 2 === 0
        || place >= this.points_.length - 20);
    }
    set_text(this.number_, decimal(quality, 3));
    this.number_.dataset.value = String(quality);
    this.draw_();
  }

  // A moment worth a line in the chart.
  mark(impressions, label) {
    const last = this.markers_.at(-1);
    if (last?.x === impressions) last.label = `${last.label}, ${label}`;
    else this.markers_.push({ x: impressions, label });
    this.markers_ = this.markers_.slice(-kMostMarkers);
  }

  draw_() {
    this.chart_.update(this.points_, { markers: this.markers_, references: [
      { y: this.chance_, label: `chance ${decimal(this.chance_)}` }] });
  }
}
