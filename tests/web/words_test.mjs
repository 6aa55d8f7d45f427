// What the dashboard says of an experiment, and what its form asks for; without a server.
//
//   node words_test.mjs WEB_FOLDER
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// Node takes files named .js for modules only beside a package.json that says so.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plackett-words-'));
fs.cpSync(process.argv[2], folder, { recursive: true });
fs.writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
const load = (name) => import(pathToFileURL(path.join(folder, name)));
const lift = await load('lift.js');
const { specOf } = await load('experiment_form.js');
const { change, counted, dateAndTime, digitsOf, duration } = await load('format.js');
const { RecentShares } = await load('node_list.js');
const { reachOf } = await load('interval_bar.js');
const { hasFirstDay } = await load('tiles.js');
const { refusalText } = await load('what_if_panel.js');

const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2212', '-');
const old = { name: 'old', policy: 'given', mode: null, stopped_because: null, impressions: 900,
  lift: null, no_lift: null };
const learned = (more) => ({ name: 'learned', policy: 'model', mode: 'explore', stopped_because: null,
  impressions: 100, lift: null, no_lift: null, ...more });
const experiment = (arm, more) => ({ name: 'e', state: 'running', baseline: 'old', promoted: null,
  ended_because: null, guard: null, promote: null, arms: [old, arm], ...more });
const verdict = (arm, more) => plain(lift.verdict(arm, experiment(arm, more)));

const tests = {
  'a node that has just joined has its share of what came since'() {
    const shares = new RecentShares();
    const node = (id, ranked) => ({ id, ranked, events: 0 });
    assert.equal(shares.update([node(1, 900_000)], 0), null);
    assert.deepEqual([...shares.update([node(1, 900_030), node(2, 5)], 2000)], [[1, 1], [2, 0]]);
    assert.deepEqual([...shares.update([node(1, 900_030), node(2, 35)], 4000)], [[1, 0.5], [2, 0.5]]);
    assert.equal(shares.update([node(1, 900_030), node(2, 35)], 90_000), null);
  },
  'an interval above 0 is better, below 0 worse, around it undecided'() {
    assert.equal(verdict(learned({ lift: { value: 0.2, low: 0.05, high: 0.37 } })),
      'learned is better: +20 % (5 % to 37 %).');
    assert.equal(verdict(learned({ lift: { value: -0.08, low: -0.14, high: -0.02 } })),
      'learned is worse: -8.0 % (-14.0 % to -2.0 %).');
    const open = learned({ lift: { value: 0.04, low: -0.034, high: 0.12 } });
    assert.equal(verdict(open), 'Too early to tell: learned is between -3.4 % and +12.0 %.');
    assert.equal(verdict(open, { state: 'ended' }),
      'Not decided: learned is between -3.4 % and +12.0 %.');
    assert.equal(verdict(learned({ lift: { value: 0.1, low: 0, high: 0.2 } })).split(':')[0],
      'Too early to tell');
  },

  'a model is compared with its first day once that is over'() {
    const model = { created_at: 1000 };
    assert.equal(hasFirstDay(model, 1000 + 24 * 3600 * 1000 - 1), false);
    assert.equal(hasFirstDay(model, 1000 + 24 * 3600 * 1000), true);
  },

  'one is told apart from many'() {
    assert.equal(counted(1, 'list'), '1 list');
    assert.equal(counted(0, 'list'), '0 lists');
    assert.equal(counted(7433, 'list waits', 'lists wait'), '7,433 lists wait');
    const arms = [{ ...old, impressions: 1 }, learned({ impressions: 0 })];
    assert.match(lift.summary({ ...experiment(learned()), arms }), /1 list$/);
  },

  'how many lists wait, and from when the first counts'() {
    const leftOut = { open: 7433, open_until: 1_800_000_000_000, not_sampled: 2,
      candidates_never_kept: 0, damaged: 0 };
    const message = 'no sampled list whose feedback is complete: 7,433 lists wait for feedback';
    assert.equal(refusalText({ message, leftOut }), 'No answer yet: 7,433 lists wait for feedback; '
      + `the first can be used from ${dateAndTime(leftOut.open_until)}. `
      + 'Left out: 2 sorted or given.');
    assert.equal(refusalText({ message: 'another evaluation is running' }),
      'No answer: another evaluation is running.');
    assert.match(refusalText({ message: 'no sampled list with its other candidates: no candidates '
      + 'were kept', leftOut: { ...leftOut, candidates_never_kept: 3 } }), /no candidates were kept/);
  },

  'the line of an arm ends where it was stopped'() {
    const point = (at, value) => ({ at, arms: [{ name: 'old', lift: null },
      { name: 'learned', lift: value && { value, low: value - 1, high: value + 1 } }] });
    const points = [point(1, null), point(2, -0.2), point(3, -0.4), point(4, -0.4), point(5, -0.4)];
    const arm = learned({ lift: { value: -0.4, low: -1.4, high: 0.6 } });
    const timesOf = (one) => lift.pointsOf(one, points).map(({ at }) => at);
    assert.deepEqual(timesOf(arm), [1, 2, 3, 4, 5]);
    assert.deepEqual(timesOf({ ...arm, stopped_because: 'guard' }), [1, 2, 3]);
    assert.deepEqual(timesOf(learned({ stopped_because: 'guard' })), [1, 2, 3, 4, 5]);
  },

  'why there is no lift yet is told'() {
    assert.equal(verdict(learned({ no_lift: '31 units with a value in old; 50 are needed' })),
      'Too early to tell: 31 units with a value in old; 50 are needed.');
  },

  'how long an effect takes is told while that is open'() {
    const arm = learned({ lift: { value: 0.01, low: -0.1, high: 0.1 },
      detects: [{ effect: 0.05, seconds: 40000 }, { effect: 0.1, seconds: 0 }] });
    assert.equal(plain(lift.waitText(arm, experiment(arm))),
      'An effect of 5 % would show in about 11 hours.');
    assert.equal(plain(lift.waitText(arm, experiment(arm), 0.1)),
      'An effect of 10 % would have shown by now.');
    assert.equal(lift.waitText(arm, experiment(arm), 0.02), '');
    assert.equal(lift.waitText(arm, experiment(arm, { state: 'ended' })), '');
    const better = { ...arm, lift: { value: 0.2, low: 0.1, high: 0.3 } };
    assert.equal(lift.waitText(better, experiment(better)), '');
  },

  'the promoted arm speaks for an experiment, else the best'() {
    const worse = learned({ name: 'worse', lift: { value: -0.1, low: -0.2, high: 0 } });
    const unknown = learned({ name: 'unknown' });
    const best = learned({ lift: { value: 0.1, low: 0, high: 0.2 } });
    const all = experiment(best, { arms: [old, unknown, worse, best] });
    assert.equal(lift.headlineArm(all).name, 'learned');
    assert.equal(lift.headlineArm({ ...all, promoted: 'worse' }).name, 'worse');
    assert.equal(lift.headlineArm({ ...all, arms: [old, unknown] }).name, 'unknown');
    const stopped = { ...best, stopped_because: 'guard: it dropped' };
    assert.equal(lift.headlineArm({ ...all, arms: [old, worse, stopped] }).name, 'worse');
    assert.equal(lift.headlineArm({ ...all, arms: [old, stopped] }).name, 'learned');
  },

  'an arm can be promoted after its test, unless one was'() {
    const arm = learned();
    assert.equal(lift.canPromote(arm, experiment(arm)), true);
    assert.equal(lift.canPromote(arm, experiment(arm, { state: 'ended' })), true);
    assert.equal(lift.canPromote(arm, experiment(arm, { state: 'ended' }), true), false);
    assert.equal(lift.canPromote(arm, experiment(arm, { state: 'ended', promoted: 'learned' })),
      false);
    assert.equal(lift.canPromote(old, experiment(arm)), false);
    assert.equal(lift.canPromote(learned({ stopped_because: 'guard' }), experiment(arm)), false);
  },

  'what is served is told'() {
    assert.equal(lift.servedText('explore'), '');
    assert.equal(lift.servedText('given'), 'requests are served in the order given');
    assert.match(lift.servedText('exploit'), /sorted by score/);
    assert.match(lift.servedText('given', { name: 'test-1' }), /test-1.* decides what users see/);
  },

  'an experiment stands where its state, promotion and guard say'() {
    const kind = (arm, more) => lift.standing(experiment(arm, more)).kind;
    assert.equal(kind(learned()), 'running');
    assert.equal(kind(learned(), { state: 'ended', ended_because: 'asked' }), 'ended');
    assert.equal(kind(learned(), { state: 'ended', promoted: 'learned' }), 'promoted');
    assert.equal(kind(learned({ stopped_because: 'it dropped' }), { state: 'ended' }), 'guarded');
  },

  'rules are told in words'() {
    assert.equal(plain(lift.rulesText(experiment(learned(), { guard: { drop: '5 %' },
      promote: { when: 'lower > 2 %', after: '1d' } }))),
    'Stops an arm once it is surely worse by 5 %. '
      + 'Promotes one once it is surely better by 2 %, after 1 day.');
    assert.equal(plain(lift.rulesText(experiment(learned(),
      { promote: { when: 'lower > 0', after: '3d' } }))),
    'Promotes one once it is surely better, after 3 days.');
    assert.equal(lift.rulesText(experiment(learned(), { state: 'ended', guard: { drop: '5 %' } })), '');
    assert.equal(lift.marginOf('7.5 %'), 0.075);
    assert.equal(lift.marginOf('0.05'), 0.05);
    assert.equal(lift.marginOf(null), null);
    assert.equal(lift.marginOf('5e-1 %'), 0.005);
    assert.equal(lift.marginOf('lower > 2E0 %'), 0.02);
  },

  'the form makes a split of two arms'() {
    const given = { challenger: 'model', share: '10', metric: 'clicks', guard: '5', promote: '',
      after: '3d' };
    assert.deepEqual(specOf(given), { arms: [{ name: 'old', policy: 'given', share: 0.9 },
      { name: 'learned', policy: 'model', share: 0.1 }], metric: 'clicks', guard: { drop: '5 %' } });
    assert.deepEqual(specOf({ ...given, challenger: 'snapshot:3', guard: '', promote: 'lower > 0' }),
      { arms: [{ name: 'model', policy: 'model', share: 0.9 },
        { name: 'snapshot-3', policy: 'snapshot:3', share: 0.1 }], metric: 'clicks',
      promote: { when: 'lower > 0', after: '3d' } });
    for (const share of ['0.1', '33.3', '99.9']) {
      const [first, second] = specOf({ ...given, share }).arms;
      assert.ok(Math.abs(first.share + second.share - 1) < 1e-12, share);
    }
  },

  'numbers have the digits that tell them apart'() {
    assert.deepEqual([0.5, 2, 2.5, 0.25, 1e-3, 10].map(digitsOf), [1, 0, 1, 2, 3, 0]);
    assert.deepEqual([0.2, 0.05, -0.123, 0].map((value) => plain(change(value))),
      ['+20 %', '+5.0 %', '-12 %', '0.0 %']);
    assert.deepEqual([1, 89, 90, 5399, 5400, 40000, 130000, 864000].map(duration),
      ['1 second', '89 seconds', '2 minutes', '90 minutes', '2 hours', '11 hours', '2 days', '10 days']);
    assert.deepEqual([[-0.1, 0.37], [0.01, 0.02], [-2, 1]].map(([low, high]) =>
      Number(reachOf([{ low, high }]).toPrecision(9))), [0.5, 0.02, 2]);
    assert.ok(reachOf([]) > 0);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    test();
  } catch (error) {
    failed += 1;
    console.log(`failed: ${name}\n${error.stack}`);
  }
}
fs.rmSync(folder, { recursive: true });
console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} passed`);
process.exit(failed === 0 ? 0 : 1);
