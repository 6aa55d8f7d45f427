// Runs a crowd against the service: rounds of searches in flight together, then all their
// feedback in one request, at a chosen pace.

import * as api from './api.js';

// perSecond null: as fast as the service answers.
export const paces = {
  calm: { inFlight: 1, perSecond: 8 },
  brisk: { inFlight: 5, perSecond: 50 },
  full: { inFlight: 12, perSecond: null },
};

const rateWindowMs = 2000;
const sleep = (waitMs) => new Promise((resolve) => { setTimeout(resolve, waitMs); });
const passes = (error) => [0, 408, 429, 503].includes(error.status);

export class Simulation {
  // onRound(): after every round, awaited. onTrouble(error, goesOn): a failure; if it does
  // not go on, the simulation has stopped.
  constructor({ model, crowd, onRound, onTrouble }) {
    this.model = model;
    this.crowd = crowd;
    this.onRound = onRound;
    this.onTrouble = onTrouble;
    this.wanted = false;
    this.loop = null;
    this.rounds = [];
    this.pace = paces.brisk;
  }

  get running() { return this.wanted; }

  start() {
    if (this.wanted) return;
    this.wanted = true;
    this.rounds = [];
    this.loop = (this.loop ?? Promise.resolve()).then(() => this.run());
  }

  // Resolves when nothing is in flight any more.
  async stop() {
    this.wanted = false;
    await this.loop;
  }

  impressionsPerSecond() {
    const now = performance.now();
    this.rounds = this.rounds.filter((round) => now - round.at < rateWindowMs);
    if (this.rounds.length < 2) return 0;
    const spanMs = now - this.rounds[0].at;
    const counted = this.rounds.slice(1).reduce((sum, round) => sum + round.impressions, 0);
    return 1000 * counted / spanMs;
  }

  async run() {
    while (this.wanted) {
      const began = performance.now();
      const { inFlight, perSecond } = this.pace;
      try {
        await this.round(inFlight);
        this.rounds.push({ at: performance.now(), impressions: inFlight });
        await this.onRound();
      } catch (error) {
        const goesOn = passes(error);
        if (!goesOn) this.wanted = false;
        this.onTrouble(error, goesOn);
        if (goesOn) await sleep(1000 * (error.retryAfterS ?? 1));
      }
      if (perSecond !== null) {
        await sleep(Math.max(0, 1000 * inFlight / perSecond - (performance.now() - began)));
      }
    }
  }

  async round(inFlight) {
    const searches = Array.from({ length: inFlight }, () => this.crowd.nextSearch());
    const answers = await Promise.all(searches.map((search) =>
      api.rank(this.model, this.crowd.request(search))));
    await api.sendFeedback(this.model, answers.flatMap((answer, place) =>
      this.crowd.events(searches[place], answer)));
  }
}
