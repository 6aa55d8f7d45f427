// People who know what they want and never say it: they only click. The hidden preference lives
// in this file; the service sees rankings and clicks.

import { suggestedQueries } from './catalogue.js';
import { bestOrder, candidatesFor, featureNames, rankRequest, shownCount }
  from './product_features.js';
import { makeRandom } from './random.js';

const matching = { title_match: 1.1, kind_match: 0.9, description_match: 0.2 };

export const crowdKinds = [
  { id: 'quality', name: 'Quality lovers',
    says: 'They want what is well rated by many and arrives soon. Price hardly matters, '
      + 'and our margin not at all.',
    wants: { rating: 1.3, reviews: 0.6, fast_delivery: 0.5, low_price: 0.1 } },
  { id: 'bargain', name: 'Bargain hunters',
    says: 'They want it cheap and, better still, reduced. They will wait for it, '
      + 'and they distrust what is new.',
    wants: { low_price: 1.3, discount: 0.9, freshness: -0.3, rating: 0.1 } },
  { id: 'hurry', name: 'In a hurry',
    says: 'They want it tomorrow, so it has to be in stock. Stars and prices come second.',
    wants: { fast_delivery: 1.4, in_stock: 0.8, rating: 0.2 } },
  { id: 'trend', name: 'Trend seekers',
    says: 'They want what is new and what everybody buys. Discounts put them off.',
    wants: { freshness: 1.2, popularity: 0.9, discount: -0.4 } },
];

// The preference as one weight per feature.
export function hiddenWeights(people) {
  const wants = { ...matching, ...people.wants };
  return featureNames.map((name) => wants[name] ?? 0);
}

// Grades by place in the hidden order: the first 4 are perfect, the next 4 good, ...
const gradeEnds = [[4, 4], [8, 3], [14, 2], [22, 1]];
const gradeAt = (place) => gradeEnds.find(([end]) => place < end)?.[1] ?? 0;

const searches = suggestedQueries.map(candidatesFor);

function graded(search, people) {
  const { order } = bestOrder(search.rows, hiddenWeights(people));
  const grades = new Array(order.length).fill(0);
  order.forEach((doc, place) => { grades[doc] = gradeAt(place); });
  return grades;
}

// DCG@10 of grades from the top, and its largest value.
const dcg = (grades) => grades.slice(0, shownCount)
  .reduce((sum, grade, place) => sum + (2 ** grade - 1) / Math.log2(place + 2), 0);
const idealDcg = (grades) => dcg([...grades].sort((a, b) => b - a));

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// A cascade: they read from the top, click what looks good, often stop once satisfied, and at
// every place may lose patience.
const clickChances = [0.02, 0.1, 0.3, 0.65, 0.92];
const stopChances = [0.1, 0.2, 0.35, 0.55, 0.75];
const patience = 0.93;

function clicksOn(gradesShown, random) {
  const clicked = [];
  for (const [place, grade] of gradesShown.entries()) {
    if (random() < clickChances[grade]) {
      clicked.push(place);
      if (random() < stopChances[grade]) break;
    }
    if (random() > patience) break;
  }
  return clicked;
}

export class Crowd {
  constructor(seed) {
    this.random = makeRandom(seed);
    this.become(crowdKinds[0]);
  }

  become(people) {
    this.people = people;
    this.grades = searches.map((search) => graded(search, people));
    this.placeOf = searches.map((search) =>
      new Map(search.products.map((product, doc) => [product.id, doc])));
  }

  // A search of one of them: an index for `request` and `events`.
  nextSearch() {
    return Math.floor(this.random() * searches.length);
  }

  request(search) {
    return rankRequest(searches[search], this.people.id);
  }

  // The feedback events of one of them looking at an answered ranking.
  events(search, answer) {
    const shown = answer.items.map((item) =>
      this.grades[search][this.placeOf[search].get(item.id)]);
    const clicks = clicksOn(shown, this.random).map((place) =>
      ({ impression: answer.impression, item: answer.items[place].id, event: 'click' }));
    return [...clicks, { impression: answer.impression, event: 'close' }];
  }

  // NDCG@10 of the order these weights give, mean over the searches.
  qualityOf(weights) {
    return mean(searches.map(({ rows }, place) => {
      const grades = this.grades[place];
      return dcg(bestOrder(rows, weights).order.map((doc) => grades[doc])) / idealDcg(grades);
    }));
  }

  // What an order drawn blindly is worth, in the mean: a grade of 1 has a gain of 1.
  qualityOfChance() {
    const discounts = dcg(new Array(shownCount).fill(1));
    return mean(this.grades.map((grades) =>
      mean(grades.map((grade) => 2 ** grade - 1)) * discounts / idealDcg(grades)));
  }
}
