// What the ranker is told about a product for a query. Values need no common scale: the model's
// scaling brings each feature to [0, 1] over the candidates of a query.

import { catalogue } from './catalogue.js';

export const shownCount = 10;

const wordsOf = (text) =>
  text.toLowerCase().match(/[a-z0-9]+/g)?.map((word) => word.replace(/(?<=..)s$/, '')) ?? [];

const wordsById = new Map(catalogue.map((product) => [product.id, {
  title: new Set(wordsOf(product.title)),
  description: new Set(wordsOf(product.description)),
  kind: new Set(wordsOf(`${product.kind} ${product.department}`)),
}]));

// The share of the query's words that are in the set.
const share = (queryWords, words) => queryWords.length === 0 ? 0
  : queryWords.filter((word) => words.has(word)).length / queryWords.length;

const text = (field) => (product, queryWords) =>
  share(queryWords, wordsById.get(product.id)[field]);

export const productFeatures = [
  { name: 'title_match', label: 'title match', value: text('title') },
  { name: 'description_match', label: 'text match', value: text('description') },
  { name: 'kind_match', label: 'kind match', value: text('kind') },
  { name: 'low_price', label: 'low price', value: (product) => -Math.log(product.price) },
  { name: 'discount', label: 'discount', value: (product) => product.discount },
  { name: 'rating', label: 'rating', value: (product) => product.rating },
  { name: 'reviews', label: 'many reviews', value: (product) => Math.log1p(product.reviews) },
  { name: 'freshness', label: 'new arrival', value: (product) => -Math.sqrt(product.ageDays) },
  { name: 'fast_delivery', label: 'fast delivery', value: (product) => -product.deliveryDays },
  { name: 'in_stock', label: 'in stock', value: (product) => (product.in_stock ? 1 : 0) },
  { name: 'popularity', label: 'popularity',
    value: (product) => Math.log1p(product.soldLastMonth) },
  { name: 'margin', label: 'our margin', value: (product) => product.margin },
];

export const featureNames = productFeatures.map((feature) => feature.name);

// The departments that have a word of the query, in a title or kind if any has, else in a text; the
// whole shop if none has. rows: the features as the service scales them.
export function candidatesFor(query) {
  const queryWords = wordsOf(query);
  const having = (...fields) => catalogue.filter(({ id }) =>
    fields.some((field) => share(queryWords, wordsById.get(id)[field]) > 0));
  const named = having('kind', 'title');
  const departments = new Set((named.length > 0 ? named : having('description'))
    .map((product) => product.department));
  const products = departments.size === 0 ? catalogue
    : catalogue.filter((product) => departments.has(product.department));
  const features = products.map((product) =>
    productFeatures.map((feature) => Number(feature.value(product, queryWords).toFixed(4))));
  return { query, products, features, rows: scaled(features) };
}

// What the service is asked for such candidates.
export const rankRequest = ({ query, products, features }, user) => ({
  items: products.map(({ id }, doc) => ({ id, features: features[doc] })),
  k: shownCount, mode: 'explore', context: { query, user },
});

// Each column to (x - min) / (max - min), a constant one to 0: the service's query-minmax.
function scaled(features) {
  const low = features[0].map((_, column) => Math.min(...features.map((row) => row[column])));
  const high = features[0].map((_, column) => Math.max(...features.map((row) => row[column])));
  return features.map((row) => row.map((value, column) =>
    (high[column] > low[column] ? (value - low[column]) / (high[column] - low[column]) : 0)));
}

// Rows by falling score of a linear model; equal scores keep their order.
export function bestOrder(rows, weights) {
  const scores = rows.map((row) =>
    row.reduce((sum, value, column) => sum + value * weights[column], 0));
  const order = rows.map((_, place) => place).sort((a, b) => scores[b] - scores[a] || a - b);
  return { order, scores };
}
