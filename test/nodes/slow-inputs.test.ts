import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { configureSlowContextStore, holdContextStore } from './support/context';
import { cloudApp, deploy, node } from './support/flow';
import { journal } from './support/journal';
import { call, post, send } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';

describe('inputs that are not available at once', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object): Promise<void> {
    cloud = await startWith(node('push', properties));
    await configureSlowContextStore();
    const { flow } = helper.getNode('push')!.context();
    await new Promise<void>((resolve) => flow.set('device', chipid, () => resolve()));
  }
  const texts = () => cloud.device(chipid).received.map(({ text }) => text);

  it('may come from a remote context store, and keep the order of messages', async () => {
    await start({ chipid: 'device', chipidType: 'flow' });
    await Promise.all([0, 1, 2, 3].map((payload) => send('push', { payload })));
    assert.deepEqual(texts(), ['0', '1', '2', '3']);
  });

  it('do not end the process when a later message fails before an earlier one is ready', async () => {
    const broken = '$string(payload) = "bad" ? $error("no text") : payload';
    await start({ chipid: 'device', chipidType: 'flow', message: broken, messageType: 'jsonata' });
    const ends = await Promise.all(
      ['a', 'bad', 'b', 'bad', 'c'].map((payload) => send('push', { payload })),
    );
    const codes = ends.map(({ error }) => (error as { code?: string } | undefined)?.code);
    const bad = 'INVALID_INPUT';
    assert.deepEqual(codes, [undefined, bad, undefined, bad, undefined]);
    assert.deepEqual(texts(), ['a', 'b', 'c']);
  });

  it('that are still missing when the node closes cause no request', async () => {
    await start({ chipid: 'device', chipidType: 'flow' });
    // A store that never answers again.
    holdContextStore();
    for (const payload of [0, 1, 2]) post('push', { payload });
    await deploy([cloudApp(cloud), node('push', { id: 'other' })]);
    assert.equal(journal.endings.length, 3);
    await call('other', { chipid, payload: 'end' });
    assert.deepEqual(texts(), ['end']);
  });
});
