// A small line drawing for each kind of product.

import { element } from './dom.js';

const drawings = {
  tent: 'M6 38 24 10l18 28zM24 10v-3M24 22l-8 16M24 22l8 16',
  'sleeping bag': 'M17 6h14a6 6 0 0 1 6 6v24a6 6 0 0 1-6 6H17a6 6 0 0 1-6-6V12a6 6 0 0 1 6-6zM17 12h14v6a7 7 0 0 1-14 0zM24 25v17',
  backpack: 'M13 20a11 11 0 0 1 22 0v20H13zM18 10V7a6 6 0 0 1 12 0v3M18 28h12v12H18zM24 28v5M9 26v11h4M39 26v11h-4',
  headlamp: 'M5 20c6-10 32-10 38 0M5 28c3 3 7 5 10 6M43 28c-3 3-7 5-10 6M16 22h16v13a8 5 0 0 1-16 0zM24 31v0M20 28h8',
  'frying pan': 'M18 14a13 13 0 1 1 0 26 13 13 0 0 1 0-26zM18 19a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM28 18 42 6',
  kettle: 'M14 18h18l5 22H9zM16 18a7 7 0 0 1 14 0M23 11V8M34 26l8-6M10 12a14 9 0 0 1 26 0',
  knife: 'M5 30 34 7c4 6 3 14-4 20l-12 5zM16 31l5 6 10 6 3-4-8-10',
  'coffee grinder': 'M14 22h20v19H14zM17 22l-3-9h20l-3 9M24 13V7h12M36 7v3M18 32h12v9',
  mystery: 'M10 8h22a5 5 0 0 1 5 5v28H15a5 5 0 0 1-5-5zM10 36a5 5 0 0 1 5-5h22M21 15a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM25 24l4 4',
  cookbook: 'M10 8h22a5 5 0 0 1 5 5v28H15a5 5 0 0 1-5-5zM10 36a5 5 0 0 1 5-5h22M20 13v5a3 3 0 0 0 6 0v-5M23 13v13',
  'travel guide': 'M10 8h22a5 5 0 0 1 5 5v28H15a5 5 0 0 1-5-5zM10 36a5 5 0 0 1 5-5h22M23 13a5 5 0 0 1 5 5c0 4-5 9-5 9s-5-5-5-9a5 5 0 0 1 5-5zM23 18v0',
  history: 'M10 8h22a5 5 0 0 1 5 5v28H15a5 5 0 0 1-5-5zM10 36a5 5 0 0 1 5-5h22M17 25h13M18 17l5.500-4L29 17zM19 18v6M23.500 18v6M28 18v6',
};
const tintCount = 6;

function tintOf(id) {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return sum % tintCount;
}

export function thumbnail(product) {
  return element(`svg.thumbnail.tint-${tintOf(product.id)}`, {
    viewBox: '-6 -6 60 60', 'aria-hidden': 'true' },
  element('path', { d: drawings[product.kind] }));
}
