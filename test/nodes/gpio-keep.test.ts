import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { until } from '../tooling/until';
import type { AppNode } from '../../nodes/app/deployed';
import { cloudApp, deploy, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, fail, shows } from './support/messages';
import { startWith, stateFolder, useNodeRed, written } from './support/node-red';

const keep = (properties: object = {}) => node('gpio', { operation: 'keep', ...properties });

interface Shown {
  chipid: string;
  payload: { pin: number; wanted: number | null; found: unknown; state: string };
}
const shown = (): Shown[] =>
  journal.arrived.filter(({ sink }) => sink === 'out').map(({ msg }) => msg as unknown as Shown);
const states = (chipid: string): string[] =>
  shown()
    .filter((each) => each.chipid === chipid)
    .map(({ payload }) => payload.state);

describe('the gpio node that keeps a level', () => {
  useNodeRed();
  let cloud: Simulator;
  const [first, second] = ['10000001', '10000002'];
  const calls = (): number => cloud.requests.filter(({ path }) => path.includes('gpio')).length;

  const pins = (): unknown[] => (helper.getNode('app') as AppNode).app.current()?.pins.list() ?? [];

  async function start(properties: object = {}): Promise<void> {
    cloud = await startWith(keep(properties));
  }

  it('passes the message on at once, sets and reads the pin, and says so in a new message', async () => {
    await start();
    const { payload, topic } = await call('gpio', {
      chipid: first,
      pin: 5,
      payload: 1,
      topic: 't',
    });
    assert.deepEqual(payload, { pin: 5, wanted: 1, found: null, state: 'pending' });
    assert.equal(topic, 't');
    await until(() => states(first).includes('kept'), 'the level is confirmed');
    assert.deepEqual(shown().at(-1)?.payload, { pin: 5, wanted: 1, found: 1, state: 'kept' });
    assert.equal(cloud.device(first).levels[5], '1');
  });

  it('with several devices sends a message of each, and null ends them without a call', async () => {
    await start({ many: true });
    await call('gpio', { chipid: [first, second], pin: 5, payload: 'on' });
    const both = [first, second];
    await until(() => both.every((each) => states(each).includes('kept')), 'both are kept');
    for (const each of both) assert.deepEqual(states(each), ['pending', 'kept']);
    const before = calls();
    await call('gpio', { chipid: [first, second], pin: 5, payload: null });
    await until(() => both.every((each) => states(each).at(-1) === 'ended'), 'both have ended');
    assert.equal(calls(), before);
  });

  it('refuses any other level, pin and device, before anything is sent', async () => {
    await start();
    for (const payload of [2, 'yes', undefined, {}])
      await fail('gpio', { chipid: first, pin: 5, payload }, 'INVALID_INPUT');
    await fail('gpio', { chipid: first, pin: -1, payload: 1 }, 'INVALID_INPUT');
    await fail('gpio', { chipid: [first], pin: 5, payload: 1 }, 'INVALID_INPUT');
    assert.equal(calls(), 0);
  });

  for (const [how, between] of [
    ['after a deploy', undefined],
    ['once it is enabled', { d: true }],
  ] as const)
    it(`goes on ${how}, without a message`, async () => {
      await start();
      await call('gpio', { chipid: first, pin: 5, payload: 1 });
      await until(() => states(first).includes('kept'), 'the level is confirmed');
      if (between) {
        await deploy([cloudApp(cloud), keep(between)]);
        assert.equal(pins().length, 0);
      }
      await deploy([cloudApp(cloud), keep({ name: 'changed' })]);
      await until(() => pins().length === 1, 'it is kept');
      assert.deepEqual(pins(), [{ chipid: first, pin: 5, wanted: 1, found: 1, state: 'kept' }]);
      assert.deepEqual(states(first), ['pending', 'kept']);
    });

  it('ends its pins when it is removed', async () => {
    await start();
    await call('gpio', { chipid: first, pin: 5, payload: 1 });
    await deploy([cloudApp(cloud), node('push')]);
    await until(() => Object.keys(written('pin')).length === 0, 'nothing is wanted any more');
  });

  for (const [what, before, after] of [
    ['device', { chipid: first, chipidType: 'str' }, { chipid: second, chipidType: 'str' }],
    ['pin', { pin: '5', pinType: 'num' }, { pin: '4', pinType: 'num' }],
  ] as const)
    it(`keeps no more what it kept while it was set to another ${what}`, async () => {
      await start({ ...before, check: '1' });
      await call('gpio', { chipid: first, pin: 5, payload: 1 });
      await until(() => states(first).includes('kept'), 'the level is confirmed');
      await deploy([cloudApp(cloud), keep({ ...after, check: '1' })]);
      await until(() => Object.keys(written('pin')).length === 0, 'nothing is wanted any more');
      assert.deepEqual(pins(), []);
    });

  it('forgets what it has kept when it is set to another operation', async () => {
    await start();
    await call('gpio', { chipid: first, pin: 5, payload: 1 });
    await until(() => 'pin:10000001:5' in written('pin'), 'it is written');
    await deploy([cloudApp(cloud), node('gpio')]);
    await until(() => !('pin:10000001:5' in written('pin')), 'it is forgotten');
    const before = calls();
    await deploy([cloudApp(cloud), keep()]);
    await call('gpio', { chipid: second, pin: 5, payload: 1 });
    await until(() => states(second).includes('kept'), 'the other device is looked at');
    assert.equal(calls(), before + 2);
  });

  it('keeps a level that cannot be written, says so as long as it would not survive, and writes it afterwards', async () => {
    await start();
    await call('gpio', { chipid: first, pin: 5, payload: 1 });
    await until(() => states(first).includes('kept'), 'the level is confirmed');
    renameSync(stateFolder, `${stateFolder}-aside`);
    writeFileSync(stateFolder, 'no folder');
    await call('gpio', { chipid: second, pin: 5, payload: 1 });
    await until(() => states(second).includes('kept'), 'the other level is confirmed, too');
    await shows('gpio', 'status.not-kept');
    rmSync(stateFolder);
    renameSync(`${stateFolder}-aside`, stateFolder);
    await until(() => 'pin:10000002:5' in written('pin'), 'it is written');
    await shows('gpio', 'status.pins-kept');
  });

  it('says why a pin cannot be set: an error of the node, and its status', async () => {
    await start();
    cloud.fail('unauthorized', { path: 'set_gpio_edge' });
    await call('gpio', { chipid: first, pin: 5, payload: 1 });
    await until(() => arrivedAt('caught').length === 1, 'the error is there');
    const { chipid, error, payload } = arrivedAt('caught')[0] as unknown as Shown & {
      error: { code: string };
    };
    assert.deepEqual([chipid, payload.pin, error.code], [first, 5, 'UNAUTHORIZED']);
    await shows('gpio', 'status.unauthorized');
  });
});
