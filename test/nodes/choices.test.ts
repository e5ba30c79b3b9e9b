import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

/** Properties that are one of a few words, by node. */
const CHOICES: readonly [kind: string, ...names: string[]][] = [
  ['push', 'target', 'transport', 'format', 'when'],
  ['gpio', 'operation', 'when'],
  ['reboot', 'when'],
  ['refresh', 'offline'],
  ['history', 'operation', 'datatype'],
  ['request', 'format'],
];

describe('a choice in a flow written by hand', () => {
  useNodeRed();
  let cloud: Simulator;
  const msg = { chipid: '10000001', pin: 1, payload: 1 };

  async function start(kind: string, properties: object): Promise<void> {
    cloud = await startCloud();
    const match = { match: 'property', property: 'id' };
    await load([cloudApp(cloud), node(kind, { ...match, ...properties })]);
  }

  for (const [kind, ...names] of CHOICES) {
    for (const name of names) {
      it(`is refused if ${kind} has no such ${name}, and nothing is sent`, async () => {
        await start(kind, { [name]: 'Read' });
        const { error } = await fail(kind, { ...msg }, 'INVALID_INPUT');
        assert.match(error.message, new RegExp(`"${name}" must be one of .*"Read"`));
        assert.ok(cloud.requests.every(({ path }) => !path.startsWith('/openapi/')));
      });
    }
    if (kind === 'request') continue;
    it(`is the default of ${kind} if it is empty or null, as in the dialog`, async () => {
      cloud = await startCloud();
      const all = (value: unknown): object =>
        Object.fromEntries(names.map((name) => [name, value]));
      const hand = node(kind, { id: 'null', timeout: null, ...all(null) });
      await load([cloudApp(cloud), node(kind, { id: 'empty', ...all('') }), hand, node(kind)]);
      for (const id of [kind, 'empty', 'null']) await call(id, { ...msg });
      const [usual, ...others] = cloud.requests.map(({ path }) => path);
      assert.deepEqual(others, [usual, usual]);
    });
  }
});
