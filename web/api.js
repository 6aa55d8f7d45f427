// The service's HTTP API. Paths are relative, so that the pages also work behind a prefix.

import { askForToken } from './dialog.js';
import { Plackett } from './plackett.js';

const tokenKey = 'plackett-token';

function storedToken() {
  try { return sessionStorage.getItem(tokenKey); } catch { return null; }
}

function storeToken(token) {
  try { sessionStorage.setItem(tokenKey, token); } catch { /* kept for this page only */ }
}

let token = storedToken();
let asking = null;

// One dialog however many requests were refused; all of them continue with its answer.
function newToken(refused) {
  asking ??= askForToken(refused !== null).then((given) => {
    token = given ?? '';
    storeToken(token);
    asking = null;
  });
  return asking;
}

export const hasToken = () => Boolean(token);

// The pages show what goes wrong, and try again themselves.
const client = new Plackett({ token: () => token, retries: 0, timeoutMs: 60000 });

// What `send` gives. Asks for a token and tries again on 401.
async function askingForToken(send) {
  for (;;) {
    const sentWith = token;
    try {
      return await send();
    } catch (error) {
      if (error.status !== 401) throw error;
      if (sentWith === token) await newToken(sentWith);
    }
  }
}

// The JSON of the answer; null if it has none.
export const call = (method, path, body) => askingForToken(() => client.call(method, path, body));

// A method of the client.
const method = (name) => (...given) => askingForToken(() => client[name](...given));

const pathOf = (model, rest = '') => `models/${encodeURIComponent(model)}${rest}`;

export const getHealth = () => call('GET', 'health');
export const getModels = () => call('GET', 'models');
export const getNodes = () => call('GET', 'nodes');
export const createModel = (model, spec) => call('PUT', pathOf(model), spec);
export const getModel = (model) => call('GET', pathOf(model));
export const deleteModel = (model) => call('DELETE', pathOf(model));
export const rank = (model, request) => call('POST', pathOf(model, '/rank'), request);
export const sendFeedback = (model, events) =>
  call('POST', pathOf(model, '/feedback'), { events });
export const getWeights = async (model) =>
  (await call('GET', pathOf(model, '/weights'))).weights;
export const getStats = (model, points) => call('GET', pathOf(model, `/stats?points=${points}`));
export const listImpressions = async (model, { limit, clickedOnly }) =>
  (await call('GET', pathOf(model,
    `/impressions?limit=${limit}${clickedOnly ? '&clicked=true' : ''}`))).impressions;
export const getImpression = (model, impression) =>
  call('GET', pathOf(model, `/impressions/${encodeURIComponent(impression)}`));
export const listSnapshots = async (model) =>
  (await call('GET', pathOf(model, '/snapshots'))).snapshots;
export const takeSnapshot = (model, note) =>
  call('POST', pathOf(model, '/snapshots'), { note });
export const rollBack = (model, snapshot) =>
  call('POST', pathOf(model, '/rollback'), { snapshot });
export const listExperiments = method('experiments');
export const getExperiment = method('experiment');
export const startExperiment = method('startExperiment');
export const stopExperiment = method('stopExperiment');
export const promote = method('promote');
export const undoPromotion = method('undoPromotion');
export const deleteExperiment = method('deleteExperiment');
export const whatIf = method('whatIf');
export const freeze = (model) => call('POST', pathOf(model, '/freeze'));
export const resume = (model) => call('POST', pathOf(model, '/resume'));
