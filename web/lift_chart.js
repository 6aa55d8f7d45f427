// The lift of each challenger over time, with its interval, the line of no difference and the guard's.

import { LineChart } from './charts.js';
import { change, dateAndTime, digitsOf, wholePercent } from './format.js';
import { roundUp } from './interval_bar.js';
import { bandText, challengersOf, colourOf, guardOf, liftText, pointsOf } from './lift.js';

// What the chart shows of y. The first intervals are so wide that nothing else could be seen, so only
// the later half counts.
function limitsOf(lines, guard) {
  const marks = [0, guard ?? 0];
  for (const points of lines) {
    const known = points.filter(({ lift }) => lift !== null);
    for (const { lift } of known.slice(Math.floor(known.length / 2))) marks.push(lift.low, lift.high);
  }
  const [least, most] = [Math.min(...marks), Math.max(...marks)];
  const step = roundUp(Math.max(0.02, most - least) / 5);
  return [Math.max(-1, step * Math.floor(least / step)), step * Math.ceil(most / step)];
}

export class LiftChart {
  constructor(container) {
    this.chart = new LineChart(container, { label: 'Lift over time', xAxis: 'time', height: 270,
      leastWidth: 1000, writeX: dateAndTime, bounds: [-1, Infinity],
      writeY: (y, step) => change(y, step ? digitsOf(100 * step) : 1),
      empty: 'The interval appears once both sides have had enough units for a while' });
  }

  update(experiment) {
    const guard = guardOf(experiment);
    // A single point says nothing about time.
    const all = challengersOf(experiment).map((arm) => ({ name: arm.name,
      points: pointsOf(arm, experiment.points) }));
    const isKnown = all.some(({ points }) =>
      points.filter(({ lift }) => lift !== null).length > 1);
    const lines = isKnown ? all : all.map((line) => ({ ...line, points: [] }));
    const [least, most] = limitsOf(lines.map(({ points }) => points), guard);
    const within = (y) => Math.max(least, Math.min(most, y));
    this.chart.update(lines.map(({ name, points }) => ({
      label: name, colour: colourOf(name, experiment),
      points: points.map(({ at, lift }) => (lift === null ? { x: at, y: null } : { x: at,
        y: within(lift.value), low: within(lift.low), high: within(lift.high),
        text: `${liftText(lift)} (${bandText(lift)})` })),
    })), { references: isKnown ? [{ y: 0, text: 'no difference' }, { y: guard,
      text: `guard ${wholePercent(guard)}`, colour: '--down', isBelow: true }] : [] });
  }
}
