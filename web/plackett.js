// A client of `plackett serve` for pages and for Node: rank, show, report clicks, and test rankings
// live. One file, no dependency; it is served at /web/plackett.js.
//
//   import { Plackett } from './plackett.js';
//   const shop = new Plackett({ url: 'https://ranking.example', token });
//   const { impression, items } = await shop.rank('shop', { items: candidates });
//   show(items);                                  // in this order
//   shop.closeOnHide('shop', impression);         // learned from when the user leaves
//   onclick = (id) => shop.click('shop', impression, id);
//
// The service refuses pages of other origins, and a token in a page is everybody's: let pages talk
// to your own server, or to a path of your proxy that adds the token (docs/deploy.md), and give
// that address as `url`.

/**
 * @typedef {string | { id: string, features?: number[] | Object<string, number> }} Item
 * @typedef {Object} RankRequest
 * @property {Item[]} [items] ids of stored items, or items with their features
 * @property {number} [k] how many to show
 * @property {string} [mode] explore, exploit or given; such a list is outside of experiments
 * @property {string} [id] an id of your own for the impression
 * @property {*} [context] any JSON, stored with the impression
 * @property {{ id: string, rank: number }[]} [pinned]
 * @property {string[]} [blocked]
 * @property {string} [unit] whose list it is; a unit has one arm of an experiment
 * @property {string} [missing] what to do about items that are not stored
 *
 * @typedef {{ id: string, score: number, rank: number, pinned?: true }} RankedItem
 * @typedef {Object} Ranking
 * @property {string} impression
 * @property {RankedItem[]} items what to show, in this order
 * @property {number} model_version
 * @property {number} log_probability
 * @property {number} entropy
 * @property {string} [experiment] that the list belongs to
 * @property {string} [arm] of the experiment
 * @property {string[]} [skipped] items that were left out, if there are any; not of a list that is
 *     fetched because its answer was lost
 *
 * @typedef {{ impression: string, event: string, item?: string, event_id?: string }} FeedbackEvent
 * @typedef {Object} FeedbackAnswer
 * @property {{ status: string }[]} results one per event
 * @property {number} accepted and so on: how many had each status
 *
 * @typedef {{ name: string, policy: string, share?: number, mode?: string }} ArmSpec
 * @typedef {Object} ExperimentSpec
 * @property {ArmSpec[]} arms policies: model, given, snapshot:ID or model:NAME
 * @property {string} [baseline] an arm's name; the first by default
 * @property {string} [design] split (the default) or interleave
 * @property {string} [metric] clicks (the default), click-through, dcg or events
 * @property {number} [level]
 * @property {{ when: string, after: string } | null} [promote]
 * @property {{ drop: string } | null} [guard]
 *
 * @typedef {{ value: number, low: number, high: number }} Interval
 * @typedef {Interval & { p_value: number, anytime_p_value: number }} Lift
 * @typedef {Object} Arm
 * @property {string} name
 * @property {string} policy
 * @property {string | null} mode
 * @property {number | null} share
 * @property {string | null} model
 * @property {string | null} stopped_because
 * @property {number} impressions
 * @property {number} units
 * @property {number} clicks
 * @property {number | null} value the metric per list
 * @property {Lift | null} lift relative: 0.2 is 20 % more than the baseline
 * @property {string | null} no_lift why there is none yet
 * @property {{ effect: number, seconds: number | null }[]} [detects]
 *
 * @typedef {Object} Experiment
 * @property {string} name
 * @property {'running' | 'ended'} state
 * @property {number} started_at
 * @property {number | null} ended_at
 * @property {string | null} ended_because
 * @property {string} design
 * @property {string} metric
 * @property {number} level
 * @property {{ when: string, after: string } | null} promote
 * @property {{ drop: string } | null} guard
 * @property {string} baseline
 * @property {string | null} promoted
 * @property {boolean} can_undo
 * @property {Arm[]} arms
 * @property {{ at: number, arms: { name: string, value: number | null,
 *     lift: Interval | null }[] }[]} [points] oldest first; absent in lists of experiments
 *
 * @typedef {Object} WhatIf
 * @property {number} lists that were used
 * @property {number} kept of these, have all their candidates
 * @property {Interval} logged what was shown
 * @property {{ name: string, effective_lists: number, estimates: { estimator: string,
 *     value: number | null, low: number | null, high: number | null, difference: Interval | null,
 *     refused: string | null }[] }[]} policies
 */

const firstPauseMs = 100;
const longestPauseMs = 5000;
const longestRetryAfterS = 30;

/** An answer that is an error, with the service's message; status 0: no answer came. */
export class PlackettError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {{ where?: string, retryAfterS?: number | null, leftOut?: Object | null }} [more] where:
   *     the place in the request's body; retryAfterS: what the service asked for; leftOut: of whatIf(),
   *     the lists that the log could not be evaluated on
   * triedBefore: the call was made before, and the answer was lost.
   */
  constructor(status, message, { where = '', retryAfterS = null, leftOut = null } = {}) {
    super(where === '' ? message : `${where}: ${message}`);
    this.name = 'PlackettError';
    this.status = status;
    this.where = where;
    this.retryAfterS = retryAfterS;
    this.leftOut = leftOut;
    this.triedBefore = false;
  }
}

async function errorOf(response) {
  let body = null;
  try { body = await response.json(); } catch { /* a proxy's, say */ }
  const told = body?.error;
  const seconds = Number.parseFloat(response.headers.get('Retry-After') ?? '');
  return new PlackettError(response.status, told?.message ?? `Status ${response.status}`, {
    where: told?.where,
    retryAfterS: seconds >= 0 ? Math.min(seconds, longestRetryAfterS) : null,
    leftOut: body?.left_out ?? null,
  });
}

const experimentPath = (model, experiment, rest = '') =>
  `models/${encodeURIComponent(model)}/experiments/${encodeURIComponent(experiment)}${rest}`;

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export class Plackett {
  #url;
  #token;
  #timeoutMs;
  #retries;

  /**
   * @param {Object} [options]
   * @param {string} [options.url] the service; '' is relative to the page
   * @param {string | null | (() => string | null)} [options.token] or a function that gives it
   * @param {number} [options.timeoutMs] for each try of a call
   * @param {number} [options.retries] how often a call is tried again: answers of 429 and 503, and,
   *     for calls that may be made twice, lost connections
   */
  constructor({ url = '', token = null, timeoutMs = 10000, retries = 3 } = {}) {
    this.#url = url === '' || url.endsWith('/') ? url : `${url}/`;
    this.#token = typeof token === 'function' ? token : () => token;
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
  }

  /**
   * Ranks items. Show those of the answer in their order. With an id, a call that has to be made
   * again still makes one impression: if the answer was lost, the list is fetched. Where the client
   * may not fetch it (a proxy that passes rank and feedback alone), the error of status 409 stays.
   * @param {string} model
   * @param {RankRequest} request
   * @returns {Promise<Ranking>}
   */
  async rank(model, request) {
    try {
      return await this.call('POST', `models/${encodeURIComponent(model)}/rank`, request,
        { again: true });
    } catch (error) {
      if (error.status !== 409 || !error.triedBefore || !request.id) throw error;
      const ranking = await this.#rankedBefore(model, request).catch(() => null);
      if (ranking === null) throw error;
      return ranking;
    }
  }

  /**
   * Reports events. The request outlives the page, so that a click that leads away is not lost. Sent
   * again, an event counts once.
   * @param {string} model
   * @param {FeedbackEvent | FeedbackEvent[]} events
   * @returns {Promise<FeedbackAnswer>}
   */
  feedback(model, events) {
    return this.call('POST', `models/${encodeURIComponent(model)}/feedback`,
      { events: [events].flat() }, { again: true, keepalive: true });
  }

  /**
   * @param {string} model
   * @param {string} impression
   * @param {string} item
   * @returns {Promise<string>} the event's status: accepted, duplicate, late, ...
   */
  async click(model, impression, item) {
    return (await this.feedback(model, { impression, item, event: 'click' })).results[0].status;
  }

  /**
   * @param {string} model
   * @param {string} impression
   * @param {string} item
   * @returns {Promise<string>}
   */
  async view(model, impression, item) {
    return (await this.feedback(model, { impression, item, event: 'view' })).results[0].status;
  }

  /**
   * The user is done with the list: it is learned from now.
   * @param {string} model
   * @param {string} impression
   * @returns {Promise<string>}
   */
  async closeList(model, impression) {
    return (await this.feedback(model, { impression, event: 'close' })).results[0].status;
  }

  /**
   * Closes the list when the user leaves the page. A page that the browser keeps for the Back button
   * is not left: the user may return and click more. Lists that are not closed are learned from when
   * their time is up.
   * @param {string} model
   * @param {string} impression
   * @param {{ evenIfKept?: boolean }} [options] evenIfKept: close kept pages too
   * @returns {() => void} calls it off, for a page that shows another list
   */
  closeOnHide(model, impression, { evenIfKept = false } = {}) {
    const onHide = (event) => {
      if (event.persisted && !evenIfKept) return;
      globalThis.removeEventListener('pagehide', onHide);
      this.closeList(model, impression).catch(() => {});
    };
    globalThis.addEventListener('pagehide', onHide);
    return () => globalThis.removeEventListener('pagehide', onHide);
  }

  /**
   * Starts an experiment, or gives the one that has the same settings.
   * @param {string} model
   * @param {string} experiment
   * @param {ExperimentSpec} spec
   * @returns {Promise<Experiment>}
   */
  startExperiment(model, experiment, spec) {
    return this.call('PUT', experimentPath(model, experiment), spec);
  }

  /**
   * @param {string} model
   * @param {string} experiment
   * @returns {Promise<Experiment>} with its results over time
   */
  experiment(model, experiment) {
    return this.call('GET', experimentPath(model, experiment));
  }

  /**
   * @param {string} model
   * @returns {Promise<Experiment[]>} newest first, without their results over time
   */
  async experiments(model) {
    return (await this.call('GET', `models/${encodeURIComponent(model)}/experiments`)).experiments;
  }

  /**
   * Serves an arm to everyone; the experiment ends.
   * @param {string} model
   * @param {string} experiment
   * @param {string} arm
   * @returns {Promise<Experiment>}
   */
  promote(model, experiment, arm) {
    return this.call('POST', experimentPath(model, experiment, '/promote'), { arm });
  }

  /**
   * Goes back to what was served before a promotion.
   * @param {string} model
   * @param {string} experiment
   * @returns {Promise<Experiment>}
   */
  undoPromotion(model, experiment) {
    return this.call('POST', experimentPath(model, experiment, '/undo'));
  }

  /**
   * Ends an experiment and promotes nothing.
   * @param {string} model
   * @param {string} experiment
   * @returns {Promise<Experiment>}
   */
  stopExperiment(model, experiment) {
    return this.call('POST', experimentPath(model, experiment, '/stop'), undefined,
      { again: true });
  }

  /**
   * Deletes an experiment that has ended.
   * @param {string} model
   * @param {string} experiment
   * @returns {Promise<null>}
   */
  deleteExperiment(model, experiment) {
    return this.call('DELETE', experimentPath(model, experiment));
  }

  /**
   * What other policies would have been worth on the lists that were shown. A large log takes
   * seconds.
   * @param {string} model
   * @param {string[]} policies snapshot:ID, current or logged, each with @TEMPERATURE if another
   * @param {{ metric?: string, lists?: number }} [options] lists: how many of the newest are used
   * @returns {Promise<WhatIf>}
   */
  whatIf(model, policies, options = {}) {
    const query = new URLSearchParams([...policies.map((policy) => ['policy', policy]),
      ...Object.entries(options).filter(([, value]) => value !== undefined)]);
    return this.call('GET', `models/${encodeURIComponent(model)}/what-if?${query}`);
  }

  /**
   * Any call of the HTTP API.
   * @param {string} method
   * @param {string} path without a slash in front
   * @param {*} [body] sent as JSON
   * @param {{ again?: boolean, keepalive?: boolean }} [options] again: the call may be made again
   *     when its answer was lost; by default GET, PUT and DELETE may
   * @returns {Promise<*>} the JSON of the answer; null if it has none
   */
  async call(method, path, body, options = {}) {
    const { again = ['GET', 'PUT', 'DELETE'].includes(method), keepalive = false } = options;
    let triedBefore = false;  // an earlier try may have been applied
    for (let tried = 0; ; ++tried) {
      try {
        const response = await this.#send(method, path, body, keepalive);
        if (!response.ok) throw await errorOf(response);
        return response.status === 204 ? null : await response.json();
      } catch (error) {
        const refused = error.status === 429 || error.status === 503;
        const lost = [0, 502, 504].includes(error.status);
        error.triedBefore = triedBefore;
        if (tried >= this.#retries || !(refused || (lost && again))) throw error;
        triedBefore ||= lost;
        // Clients that were refused together don't come back together.
        await pause(error.retryAfterS === null
          ? Math.min(firstPauseMs * 2 ** tried, longestPauseMs) * (0.5 + Math.random())
          : error.retryAfterS * 1000 * (1 + 0.1 * Math.random()));
      }
    }
  }

  // The ranking that an earlier try made, whose answer was lost; null if the id is another list's.
  async #rankedBefore(model, request) {
    const path = `models/${encodeURIComponent(model)}/impressions/${encodeURIComponent(request.id)}`;
    const shown = await this.call('GET', path);
    const asked = new Set((request.items ?? []).map((item) => item.id ?? item));
    if (!shown.items.every((item) => asked.has(item.id))) return null;
    const items = shown.items.map(({ id, score, rank, pinned }) => (
      { id, score, rank, ...(pinned ? { pinned } : {}) }));
    const { impression, model_version, log_probability, entropy } = shown;
    const ranking = { impression, model_version, items, log_probability, entropy };
    if (shown.experiment) ranking.experiment = shown.experiment;
    if (shown.arm) ranking.arm = shown.arm;
    return ranking;
  }

  async #send(method, path, body, keepalive) {
    const headers = {};
    const token = this.#token();
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    try {
      return await fetch(this.#url + path, {
        method, headers, keepalive, cache: 'no-store', signal: AbortSignal.timeout(this.#timeoutMs),
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch {
      throw new PlackettError(0, 'No answer from the service');
    }
  }
}
