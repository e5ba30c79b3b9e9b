import assert from 'node:assert/strict';
import context from '@node-red/runtime/lib/nodes/context';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { cloudApp, deploy, node } from './support/flow';
import { journal } from './support/journal';
import { call, post, send } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';

/** Whether the slow context store answers no more. */
let isSilent = false;

/** A slow store, like one on another machine, which answers the later of two readings first. */
const slowStore = () => {
  const values = new Map<string, unknown>();
  const nothing = (): Promise<void> => Promise.resolve();
  let reading = 0;
  return {
    open: nothing,
    close: nothing,
    clean: nothing,
    delete: nothing,
    keys: (_scope: string, done: (error: null, keys: string[]) => void) => done(null, []),
    get(scope: string, key: string, done: (error: null, value: unknown) => void) {
      const answer = (): void => done(null, values.get(`${scope} ${key}`));
      if (!isSilent) setTimeout(answer, Math.max(1, 60 - 15 * reading++));
    },
    set(scope: string, key: string, value: unknown, done?: () => void) {
      values.set(`${scope} ${key}`, value);
      setTimeout(() => done?.(), 1);
    },
  };
};

/** Gives the running flow a context store that is slow to answer. */
async function configureSlowContextStore(): Promise<void> {
  isSilent = false;
  context.init({ contextStorage: { default: { module: slowStore } } });
  await context.load();
}

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
    isSilent = true;
    for (const payload of [0, 1, 2]) post('push', { payload });
    await deploy([cloudApp(cloud), node('push', { id: 'other' })]);
    assert.equal(journal.endings.length, 3);
    await call('other', { chipid, payload: 'end' });
    assert.deepEqual(texts(), ['end']);
  });
});
