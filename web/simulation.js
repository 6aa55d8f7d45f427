// Runs a crowd against the service: rounds of searches in flight together, then all their
// feedback in one request, at a chosen pace.

import * as api from './api.js';

// per_second null: as fast as the service answers.
export const kPaces = {
  calm: { in_flight: 1, per_second: 8 },
  brisk: { in_flight: 5, per_second: 50 },
  full: { in_flight: 12, per_second: null },
};

const kRateWindow_ms = 2000;
const sleep = (wait_ms) => new Promise((resolve) => { setTimeout(resolve, wait_ms); });
const passes = (error) => [0, 408, 429, 503].includes(error.status);

export class Simulation {
  // on_round(): after every round, awaited. on_trouble(error, goes_on): a failure; where it does
  // not go on, the simulation has stopped.
  constructor({ model, crowd, on_round, on_trouble }) {
    this.model_ = model;
    this.crowd_ = crowd;
    this.on_round_ = on_round;
    this.on_trouble_ = on_trouble;
    this.wanted_ = false;
    this.loop_ = null;
    this.rounds_ = [];
    this.pace = kPaces.brisk;
  }

  get running() { return this.wanted_; }

  start() {
    if (this.wanted_) return;
    this.wanted_ = true;
    this.rounds_ = [];
    this.loop_ = (this.loop_ ?? Promise.resolve()).then(() => this.run_());
  }

  // Resolves when nothing is in flight any more.
  async stop() {
    this.wanted_ = false;
    await this.loop_;
  }

  impressions_per_second() {
    const now = performance.now();
    this.rounds_ = this.rounds_.filter((round) => now - round.at < kRateWindow_ms);
    if (this.rounds_.length < 2) return 0;
    const span_ms = now - this.rounds_[0].at;
    const counted = this.rounds_.slice(1).reduce((sum, round) => sum + round.impressions, 0);
    return 1000 * counted / span_ms;
  }

  async run_() {
    while (this.wanted_) {
      const began = performance.now();
      const { in_flight, per_second } = this.pace;
      try {
        await this.round_(in_flight);
        this.rounds_.push({ at: performance.now(), impressions: in_flight });
        await this.on_round_();
      } catch (error) {
        const goes_on = passes(error);
        if (!goes_on) this.wanted_ = false;
        this.on_trouble_(error, goes_on);
        if (goes_on) await sleep(1000 * (error.retry_after_s ?? 1));
      }
      if (per_second !== null) {
        await sleep(Math.max(0, 1000 * in_flight / per_second - (performance.now() - began)));
      }
    }
  }

  async round_(in_flight) {
    const searches = Array.from({ length: in_flight }, () => this.crowd_.next_search());
    const answers = await Promise.all(searches.map((search) =>
      api.rank(this.model_, this.crowd_.request(search))));
    await api.send_feedback(this.model_, answers.flatMap((answer, place) =>
      this.crowd_.events(searches[place], answer)));
  }
}
