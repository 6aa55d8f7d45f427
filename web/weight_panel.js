// The demo's weights as bars, with the crowd's hidden preference marked on the same scale.

import { kFeatures } from './product_features.js';
import { hidden_weights } from './simulated_users.js';
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
    this.bars_ = new WeightBars(list);
  }

  draw(weights, people) {
    const wanted = fitted(hidden_weights(people), weights);
    this.bars_.update(kFeatures.map((feature, place) => ({
      key: feature.name, label: feature.label, value: weights[place], wanted: wanted[place],
    })));
  }
}
