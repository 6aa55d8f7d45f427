// The demo's weights as bars, with the crowd's hidden preference marked on the same scale.

import { productFeatures } from './product_features.js';
import { hiddenWeights } from './simulated_users.js';
import { WeightBars } from './weight_bars.js';

const dot = (a, b) => a.reduce((sum, value, place) => sum + value * b[place], 0);

// The order of a linear model is blind to scale: the preference is drawn at the length that fits
// the weights best.
function fitted(wanted, weights) {
  const fit = Math.max(1, dot(weights, wanted) / dot(wanted, wanted));
  return wanted.map((value) => value * fit);
}

export class WeightPanel {
  constructor(list) {
    this.bars = new WeightBars(list);
  }

  draw(weights, people) {
    const wanted = fitted(hiddenWeights(people), weights);
    this.bars.update(productFeatures.map((feature, place) => ({
      key: feature.name, label: feature.label, value: weights[place], wanted: wanted[place],
    })));
  }
}
