import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { until } from '../tooling/until';
import { cloudApp, deploy, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, post, shows } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';
import { inEachDialect } from '../tooling/dialect';

inEachDialect('a command that waits for its device', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(when: 'online' | 'upload', properties: object = {}): Promise<void> {
    cloud = await startCloud();
    const wait = { when, ...properties };
    const pulse = { id: 'pulse', operation: 'pulse', duration: 10 };
    const nodes = [node('push', wait), node('reboot', wait), node('gpio', wait)];
    await load([cloudApp(cloud), ...nodes, node('gpio', { ...wait, ...pulse })]);
  }
  const commands = (): string[] =>
    cloud.requests.map(({ path }) => path).filter((path) => /^\/openapi\/(?!devices)/.test(path));
  /** The device sleeps, and uploads when it wakes. */
  async function wake(): Promise<void> {
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
    cloud.switchOn(chipid);
    cloud.upload(chipid, 'awake');
  }

  it('is sent after the next upload, whichever node it comes from, in the order of arrival', async () => {
    await start('upload');
    cloud.switchOff(chipid);
    const calls = [
      call('push', { chipid, payload: 'x' }),
      call('gpio', { chipid, pin: 1, payload: 1 }),
      call('pulse', { chipid, pin: 2, payload: 1 }),
    ];
    await shows('pulse', 'status.awaiting-device');
    assert.deepEqual(commands(), []);
    await wake();
    const [pushed] = await Promise.all(calls);
    assert.deepEqual(pushed?.payload, { msg: 'OK' });
    const edges = ['1/1/', '2/1/', '2/0/'].map((end) => `/openapi/set_gpio_edge/${chipid}/${end}`);
    assert.deepEqual(commands(), ['/openapi/dev/push/message/', ...edges]);
    await shows('pulse', undefined);
  });

  it('ends with one error when its node is removed, which the log says once, and is never sent', async () => {
    await start('upload');
    for (let n = 0; n < 5; n++) post('push', { chipid, payload: n });
    post('pulse', { chipid, pin: 1, payload: 1 });
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
    await deploy([cloudApp(cloud)]);
    assert.equal(journal.endings.length, 6);
    for (const { error } of journal.endings) {
      assert.equal((error as { code?: string }).code, 'CANCELLED');
      assert.match((error as Error).message, /removed.* was not sent/);
    }
    const ids = ['push', 'pulse'];
    const lines = journal.logs.filter(({ id }) => ids.includes(id ?? '')).map(({ msg }) => msg);
    assert.deepEqual(new Set(lines), new Set(journal.endings.map(({ error }) => error)));
    assert.equal(lines.length, 6);
    cloud.upload(chipid, 'awake');
    await until(() => cloud.channels(chipid) === 0, 'the channel is closed');
    assert.deepEqual([commands(), arrivedAt('out')], [[], []]);
  });

  it('does not delay one that is sent now', async () => {
    cloud = await startWith(node('push', { when: 'upload' }), node('gpio'));
    const waiting = call('push', { chipid, payload: 'x' });
    await shows('push', 'status.awaiting-device');
    await call('gpio', { chipid, pin: 1, payload: 1 });
    await wake();
    await waiting;
    assert.deepEqual(
      commands().map((path) => path.includes('gpio')),
      [true, false],
    );
  });
});
