// An invented shop: 180 products of twelve kinds, the same at every load.

import { makeRandom, pick, spread } from './random.js';

const perKind = 15;
const seed = 2018;

const brands = {
  Outdoors: ['Fjellvik', 'Norrby', 'Alder & Ash', 'Tarn', 'Highmoor', 'Lumo', 'Korsa'],
  Kitchen: ['Brasa', 'Oak & Iron', 'Mielo', 'Sanju', 'Hearth', 'Copperhill', 'Lumo'],
};
const authors = ['Ines Marlow', 'Tomas Reyne', 'Ada Lindqvist', 'Jun Okabe', 'Petra Voss',
  'Samuel Orji', 'Clara Whitlock', 'Mateo Brandt', 'Noor Elias', 'Greta Holm'];

const kinds = [
  { kind: 'tent', department: 'Outdoors', price: 210,
    names: ['Ridge Tent', 'Dome Tent', 'Light Tent', 'Tunnel Tent', 'Family Tent'],
    details: ['1 person', '2 person', '3 person', '4 person'],
    about: ['Pitches in five minutes, even in the wind.', 'Two doors and a porch for the boots.',
      'Packs smaller than a sleeping bag.', 'Holds up to a week of rain.',
      'Fits beside a kettle in a backpack.'] },
  { kind: 'sleeping bag', department: 'Outdoors', price: 130,
    names: ['Warm Sleeping Bag', 'Light Sleeping Bag', 'Down Sleeping Bag', 'Summer Sleeping Bag'],
    details: ['to 8 degrees', 'to 0 degrees', 'to minus 10 degrees'],
    about: ['Warm down to the first frost.', 'A soft lining and a zip that never bites.',
      'Made for a small tent.', 'Rolls into the bottom of a backpack.'] },
  { kind: 'backpack', department: 'Outdoors', price: 95,
    names: ['Day Backpack', 'Trail Backpack', 'Small Backpack', 'Roll-top Backpack'],
    details: ['18 litres', '30 litres', '45 litres', '65 litres'],
    about: ['Sits close and leaves the arms free.', 'Straps outside carry a tent.',
      'A sleeve for a travel guide and a map.', 'Waterproof to the last seam.'] },
  { kind: 'headlamp', department: 'Outdoors', price: 42,
    names: ['Headlamp', 'Bright Headlamp', 'Running Headlamp', 'Light Headlamp'],
    details: ['200 lumens', '350 lumens', '600 lumens'],
    about: ['A red light that spares the eyes in the tent.', 'Charges in an hour, lasts all night.',
      'Light enough to forget.', 'Reads a mystery by night, finds the path by dawn.'] },
  { kind: 'frying pan', department: 'Kitchen', price: 58,
    names: ['Frying Pan', 'Cast Iron Pan', 'Steel Frying Pan', 'Deep Frying Pan'],
    details: ['20 cm', '24 cm', '28 cm', '32 cm'],
    about: ['Even heat from edge to edge.', 'Gets better with every year.',
      'Goes from the stove into the oven.', 'Every cookbook begins with this pan.'] },
  { kind: 'kettle', department: 'Kitchen', price: 46,
    names: ['Kettle', 'Whistling Kettle', 'Electric Kettle', 'Steel Kettle'],
    details: ['0.8 litres', '1.2 litres', '1.7 litres'],
    about: ['Boils in two minutes and then keeps quiet.', 'A long spout for a slow coffee.',
      'Steel inside and out.', 'Its handle stays cool.'] },
  { kind: 'knife', department: 'Kitchen', price: 84,
    names: ['Chef Knife', 'Paring Knife', 'Bread Knife', 'Santoku Knife'],
    details: ['9 cm', '16 cm', '20 cm', '24 cm'],
    about: ['Forged from one piece of steel.', 'Stays sharp for a season.',
      'Balanced, and good in small hands.', 'The one knife a cookbook asks for.'] },
  { kind: 'coffee grinder', department: 'Kitchen', price: 72,
    names: ['Coffee Grinder', 'Hand Coffee Grinder', 'Quiet Coffee Grinder'],
    details: ['30 g', '60 g', '100 g'],
    about: ['From espresso to French press in forty steps.', 'Steel burrs, no dust.',
      'Quiet enough for early mornings.', 'Small enough for a backpack.'] },
  { kind: 'mystery', department: 'Books', price: 16,
    names: ['The Lighthouse Mystery', 'A Quiet Mystery', 'Death of a Cartographer',
      'The Last Ferry', 'The Glass Orchard', 'Mystery at Low Tide', 'The Ninth Guest',
      'The Clockmaker Mystery'],
    details: ['paperback', 'hardcover'],
    about: ['A mystery in which everybody is polite.', 'One island, nine guests, no signal.',
      'A knife is missing from the kitchen.', 'Solve it before chapter twelve.'] },
  { kind: 'cookbook', department: 'Books', price: 28,
    names: ['The Weeknight Cookbook', 'One Pan', 'The Bread Cookbook', 'Salt and Smoke',
      'A Cookbook for Two', 'The Market Cookbook', 'Slow Sundays', 'The Small Kitchen Cookbook'],
    details: ['paperback', 'hardcover'],
    about: ['Ninety dinners and one frying pan.', 'Recipes that forgive.',
      'From the first coffee to the last glass.', 'A cookbook that says why.'] },
  { kind: 'travel guide', department: 'Books', price: 22,
    names: ['Travel Guide to the North', 'Slow Trains', 'Islands: a Travel Guide',
      'The Walking Travel Guide', 'Small Cities', 'The Coast Road', 'A Travel Guide to Quiet Places',
      'Night Ferries'],
    details: ['paperback', 'pocket'],
    about: ['Forty walks with a tent.', 'What to pack in a small backpack.',
      'A travel guide by someone who stayed.', 'With maps that fold the right way.'] },
  { kind: 'history', department: 'Books', price: 26,
    names: ['A Short History of Salt', 'History from Below', 'The Bridge Builders',
      'A History of Light', 'Rivers', 'The Paper Road', 'A History of Small Rooms',
      'The Harbour Years'],
    details: ['paperback', 'hardcover'],
    about: ['A history told through forty objects.', 'Reads like a mystery, with footnotes.',
      'The past, without the dates.', 'How a small town changed an empire.'] },
];

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// As many distinct titles as asked for, in a random order. A book keeps its author.
function makeTitles(random, { department, names, details }, wanted) {
  const titles = department === 'Books'
    ? names.flatMap((name, place) => details.map((detail) =>
      `${name}, ${authors[(place * 3 + names[0].length) % authors.length]}, ${detail}`))
    : names.flatMap((name) => details.flatMap((detail) =>
      brands[department].map((brand) => `${brand} ${name}, ${detail}`)));
  const drawn = titles.map((title) => ({ title, at: random() }));
  return drawn.sort((a, b) => a.at - b.at).slice(0, wanted).map(({ title }) => title);
}

function makeProduct(random, spec, { title, number }) {
  const first = pick(random, spec.about);
  const second = pick(random, spec.about.filter((sentence) => sentence !== first));
  const discount = random() < 0.45 ? Math.round(5 + 40 * random()) / 100 : 0;
  const fullPrice = spec.price * Math.exp(0.45 * spread(random));
  return {
    id: `${spec.kind.replace(' ', '-')}-${String(number + 1).padStart(2, '0')}`,
    kind: spec.kind,
    department: spec.department,
    title,
    description: `${first} ${second}`,
    price: Math.max(4, Math.round(fullPrice * (1 - discount))) - 0.01,
    discount,
    rating: Math.round(clamp(3.9 + 0.65 * spread(random), 1.6, 5) * 10) / 10,
    reviews: Math.round(Math.exp(4 + 1.4 * spread(random))),
    ageDays: Math.round(5 + 900 * random() ** 2),
    in_stock: random() < 0.82,
    deliveryDays: 1 + Math.floor(9 * random()),
    margin: Math.round(100 * clamp(0.3 + 0.12 * spread(random), 0.03, 0.7)) / 100,
    soldLastMonth: Math.round(Math.exp(3.2 + 1.2 * spread(random))),
  };
}

function makeCatalogue() {
  const random = makeRandom(seed);
  return kinds.flatMap((spec) =>
    makeTitles(random, spec, perKind).map((title, number) =>
      makeProduct(random, spec, { title, number })));
}

export const catalogue = makeCatalogue();

export const suggestedQueries = ['tent', 'light tent', 'warm sleeping bag', 'small backpack',
  'headlamp', 'cast iron pan', 'kettle', 'knife', 'coffee grinder', 'mystery', 'cookbook',
  'travel guide', 'history'];
