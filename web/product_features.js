// What the ranker is told about a product for a query. Values need no common scale: the model's
// scaling brings each feature to [0, 1] over the candidates of a query.

import { kCatalogue } from './catalogue.js';

const words_of = (text) =>
  text.toLowerCase().match(/[a-z0-9]+/g)?.map((word) => word.replace(/(?<=..)s$/, '')) ?? [];

const kWords = new Map(kCatalogue.map((product) => [product.id, {
  title: new Set(words_of(product.title)),
  description: new Set(words_of(product.description)),
  kind: new Set(words_of(`${product.kind} ${product.department}`)),
}]));

// The share of the query's words that are in the set.
const share = (query_words, words) => query_words.length === 0 ? 0
  : query_words.filter((word) => words.has(word)).length / query_words.length;

const text = (field) => (product, query_words) => share(query_words, kWords.get(product.id)[field]);

export const kFeatures = [
  { name: 'title_match', label: 'title match', value: text('title') },
  { name: 'description_match', label: 'text match', value: text('description') },
  { name: 'kind_match', label: 'kind match', value: text('kind') },
  { name: 'low_price', label: 'low price', value: (product) => -Math.log(product.price) },
  { name: 'discount', label: 'discount', value: (product) => product.discount },
  { name: 'rating', label: 'rating', value: (product) => product.rating },
  { name: 'reviews', label: 'many reviews', value: (product) => Math.log1p(product.reviews) },
  { name: 'freshness', label: 'new arrival', value: (product) => -Math.sqrt(product.age_days) },
  { name: 'fast_delivery', label: 'fast delivery', value: (product) => -product.delivery_days },
  { name: 'in_stock', label: 'in stock', value: (product) => (product.in_stock ? 1 : 0) },
  { name: 'popularity', label: 'popularity',
    value: (product) => Math.log1p(product.sold_last_month) },
  { name: 'margin', label: 'our margin', value: (product) => product.margin },
];

export const kFeatureNames = kFeatures.map((feature) => feature.name);

// The departments that have a word of the query; the whole shop where none has.
export function candidates_for(query) {
  const query_words = words_of(query);
  const matches = (product) =>
    Object.values(kWords.get(product.id)).some((words) => share(query_words, words) > 0);
  const by_name = kCatalogue.filter((product) =>
    share(query_words, kWords.get(product.id).kind) > 0
    || share(query_words, kWords.get(product.id).title) > 0);
  const found = by_name.length > 0 ? by_name : kCatalogue.filter(matches);
  const departments = new Set(found.map((product) => product.department));
  const products = departments.size === 0 ? kCatalogue
    : kCatalogue.filter((product) => departments.has(product.department));
  return {
    products,
    features: products.map((product) =>
      kFeatures.map((feature) => Number(feature.value(product, query_words).toFixed(4)))),
  };
}

// Each column to (x - min) / (max - min), a constant one to 0: the service's query-minmax.
export function scaled(features) {
  const low = features[0].map((_, column) => Math.min(...features.map((row) => row[column])));
  const high = features[0].map((_, column) => Math.max(...features.map((row) => row[column])));
  return features.map((row) => row.map((value, column) =>
    (high[column] > low[column] ? (value - low[column]) / (high[column] - low[column]) : 0)));
}

// Rows by falling score of a linear model; equal scores keep their order.
export function best_order(rows, weights) {
  const scores = rows.map((row) =>
    row.reduce((sum, value, column) => sum + value * weights[column], 0));
  const order = rows.map((_, place) => place).sort((a, b) => scores[b] - scores[a] || a - b);
  return { order, scores };
}
