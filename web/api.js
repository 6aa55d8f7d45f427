// The service's HTTP API. Paths are relative, so that the pages also work behind a prefix.

import { ask_for_token } from './token_dialog.js';

const kTokenKey = 'plackett-token';

// status 0: no answer came. retry_after_s: what the service asked for, else null.
export class ApiError extends Error {
  constructor(status, message, retry_after_s = null) {
    super(message);
    this.status = status;
    this.retry_after_s = retry_after_s;
  }
}

function stored_token() {
  try { return sessionStorage.getItem(kTokenKey); } catch { return null; }
}

function store_token(token) {
  try { sessionStorage.setItem(kTokenKey, token); } catch { /* kept for this page only */ }
}

let token = stored_token();
let asking = null;

// One dialog however many requests were refused; they all go on with its answer.
function new_token(refused) {
  asking ??= ask_for_token(refused !== null).then((given) => {
    token = given;
    store_token(given);
    asking = null;
  });
  return asking;
}

export const has_token = () => Boolean(token);

async function send(method, path, body) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  try {
    return await fetch(path, {
      method, headers, cache: 'no-store',
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, 'No answer from the service');
  }
}

async function content_of(response) {
  try { return await response.json(); } catch { return null; }
}

// The answer's JSON (null where it has none). Asks for a token and tries again on 401.
export async function call(method, path, body) {
  for (;;) {
    const sent_with = token;
    const response = await send(method, path, body);
    if (response.status === 401) {
      if (sent_with === token) await new_token(sent_with);
      continue;
    }
    const content = response.status === 204 ? null : await content_of(response);
    if (response.ok) return content;
    const retry_after = Number(response.headers.get('Retry-After'));
    throw new ApiError(response.status, content?.error?.message ?? `Status ${response.status}`,
      retry_after > 0 ? retry_after : null);
  }
}

const path_of = (model, rest = '') => `models/${encodeURIComponent(model)}${rest}`;

export const get_health = () => call('GET', 'health');
export const list_models = async () => (await call('GET', 'models')).models;
export const create_model = (model, spec) => call('PUT', path_of(model), spec);
export const get_model = (model) => call('GET', path_of(model));
export const delete_model = (model) => call('DELETE', path_of(model));
export const rank = (model, request) => call('POST', path_of(model, '/rank'), request);
export const send_feedback = (model, events) =>
  call('POST', path_of(model, '/feedback'), { events });
export const get_weights = async (model) =>
  (await call('GET', path_of(model, '/weights'))).weights;
export const get_stats = (model, points) => call('GET', path_of(model, `/stats?points=${points}`));
export const list_impressions = async (model, { limit, clicked_only }) =>
  (await call('GET', path_of(model,
    `/impressions?limit=${limit}${clicked_only ? '&clicked=true' : ''}`))).impressions;
export const get_impression = (model, impression) =>
  call('GET', path_of(model, `/impressions/${encodeURIComponent(impression)}`));
export const list_snapshots = async (model) =>
  (await call('GET', path_of(model, '/snapshots'))).snapshots;
export const take_snapshot = (model, note) =>
  call('POST', path_of(model, '/snapshots'), { note });
export const roll_back = (model, snapshot) =>
  call('POST', path_of(model, '/rollback'), { snapshot });
export const freeze = (model) => call('POST', path_of(model, '/freeze'));
export const resume = (model) => call('POST', path_of(model, '/resume'));
