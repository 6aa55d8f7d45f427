// web/plackett.js as a server gives it, against that server and against one that fails.
//
//   node client_test.mjs BASE_URL
import assert from 'node:assert/strict';
import http from 'node:http';

const base = process.argv[2];
const source = await (await fetch(`${base}/web/plackett.js`)).text();
const { Plackett, PlackettError } =
  await import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`);

const items = [...'abcdef'].map((id, at) => ({ id, features: [at, (at * 7) % 5] }));
const shop = new Plackett({ url: base });
await shop.call('PUT', 'models/shop', { features: ['price', 'rating'], k: 3, seed: 7 });

// A service that answers as `plans` say, and then 200: a status, a list of status, headers and body,
// or 'lose' for none.
async function failing(plans) {
  const requests = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (data) => { body += data; });
    request.on('end', () => {
      requests.push({ method: request.method, url: request.url, body, headers: request.headers });
      const plan = plans.shift() ?? 200;
      if (plan === 'lose') { request.socket.destroy(); return; }
      const [status, headers = {}, text = '{"results": [{"status": "accepted"}]}'] = [plan].flat();
      response.writeHead(status, headers);
      response.end(text);
    });
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    requests, url: `http://127.0.0.1:${server.address().port}`,
    end: () => { server.closeAllConnections(); server.close(); },
  };
}

const tests = {
  async 'a click is learned'() {
    const ranking = await shop.rank('shop', { items, context: { query: 'tent' } });
    assert.equal(ranking.items.length, 3);
    const [first, , third] = ranking.items.map((item) => item.id);
    assert.equal(await shop.view('shop', ranking.impression, first), 'accepted');
    assert.equal(await shop.click('shop', ranking.impression, third), 'accepted');
    assert.equal(await shop.click('shop', ranking.impression, third), 'duplicate');
    assert.equal(await shop.closeList('shop', ranking.impression), 'accepted');
    assert.equal(await shop.click('shop', ranking.impression, first), 'late');
    assert.equal((await shop.call('GET', 'models/shop')).learned, 1);
  },

  async 'errors have the service\'s message'() {
    await assert.rejects(shop.rank('nothing', { items }), (error) =>
      error instanceof PlackettError && error.status === 404 && /no model/.test(error.message));
    await assert.rejects(shop.rank('shop', { items: [{ id: 'a', features: ['x', 1] }] }), (error) =>
      error.status === 400 && error.where !== '' && error.message.startsWith(`${error.where}: `));
    assert.equal(await shop.call('DELETE', 'models/none').catch((error) => error.status), 404);
  },

  async 'busy services are asked again, and lost answers where that is safe'() {
    const plans = [[429, { 'Retry-After': '0' }], 503, 'lose'];
    const service = await failing(plans);
    const client = new Plackett({ url: `${service.url}/`, token: () => 'secret' });
    await client.rank('a / b', { items: ['x'] });
    assert.equal(service.requests.length, 4);
    for (const request of service.requests) {
      assert.equal(request.url, '/models/a%20%2F%20b/rank');
      assert.equal(request.body, '{"items":["x"]}');
      assert.equal(request.headers.authorization, 'Bearer secret');
    }
    plans.push('lose');
    await client.click('m', 'i', 'x');
    plans.push('lose');
    await assert.rejects(client.call('POST', 'models/m/snapshots', {}), (error) => error.status === 0);
    plans.push(400);
    await assert.rejects(client.rank('m', {}), (error) => error.status === 400);
    plans.push(429, 429, 429, 429, 429);
    await assert.rejects(new Plackett({ url: service.url, retries: 1 }).rank('m', {}),
      (error) => error.status === 429);
    service.end();
  },

  async 'a ranking whose answer was lost is shown once'() {
    // Passes requests on, and loses the first answer.
    let lost = 0;
    const hidden = new Set();  // methods that are refused
    const proxy = http.createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      if (hidden.has(request.method)) { response.writeHead(403); response.end(); return; }
      const answer = await fetch(base + request.url, {
        method: request.method, body: chunks.length ? Buffer.concat(chunks) : undefined });
      const text = await answer.text();
      if (lost++ === 0) { request.socket.destroy(); return; }
      response.writeHead(answer.status);
      response.end(text);
    });
    await new Promise((resolve) => { proxy.listen(0, '127.0.0.1', resolve); });
    const unlucky = new Plackett({ url: `http://127.0.0.1:${proxy.address().port}` });
    const before = (await shop.call('GET', 'models/shop')).impressions;
    const ranking = await unlucky.rank('shop', { items, id: 'visit 1', pinned: [{ id: 'd', rank: 2 }] });
    assert.ok(lost > 1);
    const seen = await shop.call('GET', 'models/shop/impressions/visit%201');
    assert.deepEqual(ranking.items.map((item) => item.id), seen.items.map((item) => item.id));
    assert.deepEqual(ranking.items[1], { id: 'd', score: seen.items[1].score, rank: 2, pinned: true });
    assert.equal((await shop.call('GET', 'models/shop')).impressions, before + 1);
    assert.deepEqual(Object.keys(ranking), Object.keys(await shop.rank('shop', { items })));
    // Another's id is another's, and without a way to fetch the list the error stays.
    await assert.rejects(shop.rank('shop', { items, id: 'visit 1' }), (error) => error.status === 409);
    lost = 0;
    await assert.rejects(unlucky.rank('shop', { items: [{ id: 'x', features: [1, 1] }], id: 'visit 1' }),
      (error) => error.status === 409 && error.triedBefore);
    lost = 0;
    hidden.add('GET');
    await assert.rejects(unlucky.rank('shop', { items, id: 'visit 2' }), (error) => error.status === 409);
    proxy.closeAllConnections();
    proxy.close();
  },

  async 'Retry-After is waited for'() {
    const service = await failing([[503, { 'Retry-After': '0.3' }]]);
    const start = performance.now();
    await new Plackett({ url: service.url }).rank('m', {});
    assert.ok(performance.now() - start >= 300);
    service.end();
  },

  async 'events are sent as they are, on pages without a secure context too'() {
    const service = await failing([]);
    const client = new Plackett({ url: service.url });
    const sent = [{ impression: 'i', event: 'buy', item: 'x' },
      { impression: 'i', event: 'buy', item: 'y', event_id: 'mine' }, { impression: 'i', event: 'close' }];
    const { crypto } = globalThis;
    Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });
    await client.feedback('m', sent);
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
    assert.deepEqual(JSON.parse(service.requests[0].body).events, sent);
    service.end();
  },

  async 'experiments have paths of their own'() {
    const plans = [200, [200, {}, '{"experiments": [{"name": "e"}]}'], 200, 'lose', 200, 200, [204, {}, '']];
    const service = await failing(plans);
    const client = new Plackett({ url: service.url });
    const spec = { arms: [{ name: 'old', policy: 'given', share: 0.9 },
      { name: 'new', policy: 'model', share: 0.1 }], guard: { drop: '5 %' } };
    await client.startExperiment('m', 'e / 2', spec);
    assert.deepEqual(await client.experiments('m'), [{ name: 'e' }]);
    await client.experiment('m', 'e');
    await client.stopExperiment('m', 'e');
    await client.promote('m', 'e', 'new');
    assert.equal(await client.deleteExperiment('m', 'e'), null);
    await client.whatIf('m', ['snapshot:3', 'current@0'], { metric: 'dcg' });
    await client.whatIf('m', ['logged']);
    assert.deepEqual(service.requests.map(({ method, url }) => `${method} ${url}`), [
      'PUT /models/m/experiments/e%20%2F%202', 'GET /models/m/experiments', 'GET /models/m/experiments/e',
      'POST /models/m/experiments/e/stop', 'POST /models/m/experiments/e/stop',
      'POST /models/m/experiments/e/promote', 'DELETE /models/m/experiments/e',
      'GET /models/m/what-if?policy=snapshot%3A3&policy=current%400&metric=dcg',
      'GET /models/m/what-if?policy=logged']);
    assert.deepEqual(JSON.parse(service.requests[0].body), spec);
    assert.deepEqual(JSON.parse(service.requests[5].body), { arm: 'new' });
    // A second undo would undo something else.
    plans.push('lose');
    await assert.rejects(client.undoPromotion('m', 'e'), (error) => error.status === 0);
    plans.push('lose');
    await assert.rejects(client.promote('m', 'e', 'new'), (error) => error.status === 0);
    service.end();
  },

  async 'silence ends'() {
    const server = http.createServer(() => {});
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const client = new Plackett({ url: `http://127.0.0.1:${server.address().port}`, timeoutMs: 100,
      retries: 1 });
    await assert.rejects(client.rank('m', {}), (error) => error.status === 0);
    server.closeAllConnections();
    server.close();
  },

  async 'a page that is left closes its list, one that is kept does not'() {
    const page = new EventTarget();
    globalThis.addEventListener = page.addEventListener.bind(page);
    globalThis.removeEventListener = page.removeEventListener.bind(page);
    const hide = (persisted) => page.dispatchEvent(Object.assign(new Event('pagehide'), { persisted }));
    const service = await failing([]);
    const sentWith = [];
    const realFetch = globalThis.fetch;
    globalThis.fetch = (url, options) => { sentWith.push(options); return realFetch(url, options); };
    const client = new Plackett({ url: service.url });
    const closes = async () => {
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      return service.requests.map((request) => JSON.parse(request.body).events[0].impression);
    };
    client.closeOnHide('m', 'i-1');
    const callOff = client.closeOnHide('m', 'i-2');
    client.closeOnHide('m', 'i-3', { evenIfKept: true });
    hide(true);
    assert.deepEqual(await closes(), ['i-3']);
    callOff();
    hide(false);
    hide(false);
    assert.deepEqual(await closes(), ['i-3', 'i-1']);
    assert.ok(sentWith.every((options) => options.keepalive));
    globalThis.fetch = realFetch;
    service.end();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    ++failed;
    console.log(`failed: ${name}\n${error.stack}`);
  }
}
console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} passed`);
process.exit(failed === 0 ? 0 : 1);
