// NDCG@10 of the order the model would show now, against the impressions so far.

import { LineChart } from './charts.js';
import { setText } from './dom.js';
import { count, decimal } from './format.js';

const mostPoints = 500;
const mostMarkers = 6;

export class QualityPanel {
  constructor(container, number) {
    this.number = number;
    this.chart = new LineChart(container, { label: 'NDCG@10 over impressions', height: 152,
      yRange: [0, 1], fixed: true, leastWidth: 40, writeY: (y, isTick) => decimal(y, isTick ? 1 : 3),
      writeX: (x) => `after ${count(x)} impressions` });
    this.chance = null;
    this.clear();
  }

  clear() {
    this.points = [];
    this.markers = [];
    this.draw();
  }

  setChance(quality) {
    this.chance = quality;
    this.draw();
  }

  add(impressions, quality) {
    this.points.push({ x: impressions, y: quality });
    if (this.points.length > mostPoints) {
      this.points = this.points.filter((_, place) => place % 2 === 0
        || place >= this.points.length - 20);
    }
    setText(this.number, decimal(quality, 3));
    this.number.dataset.value = String(quality);
    this.draw();
  }

  // A moment worth a line in the chart.
  mark(impressions, text) {
    const last = this.markers.at(-1);
    if (last?.x === impressions) last.text = `${last.text}, ${text}`;
    else this.markers.push({ x: impressions, text });
    this.markers = this.markers.slice(-mostMarkers);
  }

  draw() {
    this.chart.update([{ area: true, points: this.points }], { markers: this.markers,
      references: [{ y: this.chance, text: `chance ${decimal(this.chance)}` }] });
  }
}
