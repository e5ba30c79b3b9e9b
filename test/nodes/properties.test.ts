import assert from 'node:assert/strict';
import { readProperties } from '../../nodes/common/settings';
import type { Simulator } from '../../src/simulator';
import { CHANGED } from '../tooling/node-red/nodes';
import { cloudApp, load, node } from './support/flow';
import { call, fail, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const CHOICES = { word: ['one', 'two'] };
const DEFAULTS = {
  ...{ flag: false, number: 5, text: 'usual', list: ['usual'], word: 'one' },
  ...{ value: 'usual', valueType: 'msg', codes: '{"0":0}', pins: 'auto' },
  ...{ limits: '', sentinels: '' },
};

/** What is saved, and what each of that is read as; undefined: it is refused. */
const READ: [name: keyof typeof DEFAULTS, saved: unknown[], read: unknown][] = [
  ['flag', [false, 'false', 'FALSE', 0, '0'], false],
  ['flag', [true, 'true', 1, '1'], true],
  ['flag', ['yes', 2, [], {}], undefined],
  ['number', ['7', 7], '7'],
  ['number', [true, ['7'], {}], undefined],
  ['text', ['10000001', 10000001], '10000001'],
  // The number has lost digits.
  ['text', [2 ** 60, true, ['a'], {}], undefined],
  ['list', ['10000001', ['10000001']], ['10000001']],
  ['list', [7, [7]], [7]],
  ['list', ['1, 2;3'], ['1', '2', '3']],
  ['list', ['', []], []],
  ['list', [true, {}], undefined],
  ['word', ['two'], 'two'],
  ['word', ['', null], 'one'],
  ['word', ['Two', 2, {}], undefined],
  ['valueType', ['bool'], 'bool'],
  ['valueType', ['text'], undefined],
  ['codes', [{ 0: 'low' }], '{"0":"low"}'],
  ['codes', [[0]], undefined],
  ['pins', [[0, '1']], '0,1'],
  ['pins', [{ a: 1 }], undefined],
  ['limits', [['t > 5', 'h < 3']], 't > 5\nh < 3'],
  ['sentinels', [['a:1', 'b:2']], 'a:1,b:2'],
  ['flag', [null, ''], false],
  ['number', [null, '', ' '], 5],
  ['text', [null], 'usual'],
  ['list', [null], ['usual']],
];

/** By node what an object is saved as that makes sense. */
const OBJECTS: Partial<Record<string, readonly string[]>> = { gpio: ['codes'], server: ['query'] };

describe('properties of a flow written by hand', () => {
  for (const [name, values, read] of READ)
    it(`${name} ${JSON.stringify(values)} is ${JSON.stringify(read) ?? 'refused'}`, () => {
      for (const saved of values) {
        const { config, problem } = readProperties({ [name]: saved }, DEFAULTS, CHOICES);
        assert.deepEqual(config[name], read ?? DEFAULTS[name]);
        const text = new RegExp(read === undefined ? `^The property "${name}" must be ` : '^$');
        assert.match(problem ?? '', text);
      }
    });

  it('are the text of a typed value that was saved as the value itself', () => {
    for (const [valueType, value, text] of [
      ['bool', true, 'true'],
      ['json', { a: 1 }, '{"a":1}'],
      ['bin', [65], '[65]'],
    ] as const)
      assert.equal(readProperties({ value, valueType } as object, DEFAULTS).config.value, text);
    assert.ok(readProperties({ value: { a: 1 } } as object, DEFAULTS).problem);
  });

  describe('of each node', () => {
    useNodeRed();
    let cloud: Simulator;
    const msg = { chipid: '10000001', pin: 1, payload: 1, key: 'uptime' };
    const match = { match: 'property', property: 'id' };
    const called = (): string[] =>
      cloud.requests.flatMap(({ path }) => (path.startsWith('/openapi/') ? [path] : []));

    for (const kind of Object.keys(CHANGED) as (keyof typeof CHANGED)[]) {
      const names = Object.keys(CHANGED[kind]).filter(
        (name) => name !== 'inputs' && name !== 'app' && OBJECTS[kind]?.includes(name) !== true,
      );
      it(`are each refused if they make no sense, and nothing is sent: ${kind}`, async () => {
        cloud = await startCloud();
        const nodes = names.map((name) => node(kind, { ...match, id: name, [name]: {} }));
        await load([cloudApp(cloud), ...nodes]);
        for (const name of names) {
          await shows(name, 'status.invalid-input');
          if (kind === 'listen' || kind === 'events') continue;
          const { error } = await fail(name, { ...msg }, 'INVALID_INPUT');
          assert.match(error.message, new RegExp(`"${name}" must be `));
        }
        assert.deepEqual(called(), []);
      });
    }

    for (const kind of ['push', 'gpio', 'reboot', 'refresh', 'history'] as const)
      it(`are the defaults where they are empty or null: ${kind}`, async () => {
        cloud = await startCloud();
        const words = ['target', 'transport', 'format', 'when', 'operation', 'offline', 'datatype'];
        const names = words.filter((name) => name in CHANGED[kind]);
        const all = (value: unknown): object =>
          Object.fromEntries(names.map((name) => [name, value]));
        const hand = node(kind, { id: 'null', timeout: null, ...all(null) });
        await load([cloudApp(cloud), node(kind, { id: 'empty', ...all('') }), hand, node(kind)]);
        for (const id of [kind, 'empty', 'null']) await call(id, { ...msg });
        const [usual, ...others] = called();
        assert.deepEqual(others, [usual, usual]);
      });

    it('split a history, listen to a device and watch it as texts', async () => {
      cloud = await startCloud();
      const one = { devices: 'list', chipids: '10000001' };
      await load([
        cloudApp(cloud, { timeout: '15', ping: 0 }),
        node('history', { chipid: 10000001, chipidType: 'str', split: 'false' }),
        node('listen', one),
        node('events', { ...one, events: 'presence' }),
      ]);
      await shows('listen', 'status.connected');
      await shows('events', '1/1');
      assert.ok(Array.isArray((await call('history', {})).payload));
    });
  });
});
