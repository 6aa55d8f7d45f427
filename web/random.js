// Numbers that look random and are the same for the same seed (mulberry32).

export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export const pick = (random, from) => from[Math.floor(random() * from.length)];

// About normal, mean 0, deviation 1: twelve uniforms.
export function spread(random) {
  let sum = -6;
  for (let draw = 0; draw < 12; draw += 1) sum += random();
  return sum;
}
