import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import { DEFAULTS, type EventsConfig } from '../../nodes/events/events.config';
import { readProperties } from '../../nodes/common/settings';
import { watchOptions } from '../../nodes/events/events.runtime';
import type { Simulator } from '../../src/simulator';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, logged, shows, statusesOf } from './support/messages';
import { startCloud, startSilence, useNodeRed } from './support/node-red';
import { inEachDialect } from '../tooling/dialect';
import { until } from '../tooling/until';

const [ONE, TWO] = ['10000001', '10000002'] as const;
const HUGE = '12345678901234567890';

interface EventMessage extends NodeMessage {
  event: string;
  chipid?: string;
  name?: string;
  payload: Record<string, unknown>;
}

const events = (): EventMessage[] => arrivedAt('out') as EventMessage[];
const emitted = (): string[] =>
  events().map(({ event, chipid = '' }) => `${event} ${chipid}`.trim());
const emits = (...expected: string[]): Promise<void> =>
  until(() => emitted().join() === expected.join(), `it emits ${expected.join()}`);

inEachDialect('the events node', () => {
  useNodeRed();
  let cloud: Simulator;

  beforeEach(async () => {
    cloud = await startCloud({
      devices: [{ chipid: ONE, name: 'Greenhouse' }, { chipid: TWO }, { chipid: HUGE }],
    });
  });
  const quick = { refresh: '1', misses: '1', settle: '1' };
  const watcher = (properties: object = {}) => node('events', { ...quick, ...properties });
  const start = (properties: object = {}): Promise<void> =>
    load([
      cloudApp(cloud),
      watcher(properties),
      node('listen', { chipids: [ONE, HUGE], wires: [[]] }),
    ]);

  it('reports which devices come and go, and shows how many are online', async () => {
    await start();
    await shows('events', '3/3');
    assert.deepEqual(statusesOf('events').at(-1), { fill: 'green', shape: 'dot', text: '3/3' });
    await shows('listen', '2/2');
    const before = Date.now();
    cloud.sleep(ONE);
    await emits(`offline ${ONE}`);
    await shows('events', '2/3');
    // Its upload shows it, and no reading that comes first.
    cloud.fail('hang', { path: 'devices/list' });
    cloud.wake(ONE);
    await emits(`offline ${ONE}`, `online ${ONE}`);
    const [offline, online] = events();
    assert.deepEqual([offline?.topic, offline?.chipid, offline?.name], [ONE, ONE, 'Greenhouse']);
    const { since, ...rest } = offline!.payload;
    assert.ok(typeof since === 'number' && since >= before);
    assert.deepEqual(rest, { online: false, name: 'Greenhouse', lastUpload: null });
    assert.equal(online?.payload['online'], true);
    assert.ok(Number(online?.payload['lastUpload']) >= before);
  });

  it('reports once, without a device, that the list cannot be read, and makes no device offline', async () => {
    await start();
    await shows('events', '3/3');
    const heal = cloud.fail('unauthorized', { path: 'devices/list' });
    await emits('unknown');
    await shows('events', 'status.unauthorized');
    assert.equal((statusesOf('events').at(-1) as { fill?: string }).fill, 'red');
    const [unknown] = events();
    assert.equal(unknown?.topic, cloud.appid);
    assert.equal('chipid' in unknown!, false);
    assert.deepEqual(
      [unknown.payload['online'], unknown.payload['reason']],
      [null, 'UNAUTHORIZED'],
    );
    heal();
    await emits('unknown', 'known');
    await shows('events', '3/3');
  });

  it('emits events of silence and of channels', async () => {
    await start({ events: ['presence', 'channel'], silence: '0.2' });
    await until(() => emitted().length === 2, 'both are silent');
    assert.deepEqual(emitted().sort(), [`silent ${ONE}`, `silent ${HUGE}`]);
    cloud.upload(HUGE, 'x');
    await until(() => emitted().includes(`heard ${HUGE}`), 'it is heard');
    const heal = cloud.fail('reset-upgrade', { chipid: ONE });
    cloud.disconnect(ONE);
    await until(() => emitted().includes(`disconnected ${ONE}`), 'it is disconnected');
    assert.equal(
      typeof events().find(({ event }) => event === 'disconnected')?.payload['reason'],
      'string',
    );
    heal();
    await until(() => emitted().includes(`connected ${ONE}`), 'it is connected');
  });

  it('with a list watches its devices only; an invalid entry is an error of the node', async () => {
    await start({ devices: 'list', chipids: [TWO, 'x'], start: 'current' });
    await emits(`online ${TWO}`);
    await shows('events', '1/1');
    cloud.sleep(ONE);
    cloud.sleep(TWO);
    await emits(`online ${TWO}`, `offline ${TWO}`);
    assert.deepEqual(statusesOf('events').at(-1), { fill: 'grey', shape: 'ring', text: '0/1' });
    assert.equal(logged(/chip number/, 'events').length, 1);
  });

  it('repeats nothing after a deploy, and emits what has changed meanwhile', async () => {
    await load([cloudApp(cloud)]);
    await deploy([cloudApp(cloud), watcher()]);
    await shows('events', '3/3');
    await deploy([cloudApp(cloud), watcher({ refresh: '3600' })]);
    await shows('events', '3/3');
    assert.deepEqual(emitted(), []);
    // This is not visible before the next start.
    cloud.addDevice({ chipid: 7 });
    cloud.sleep(TWO);
    await deploy([cloudApp(cloud), watcher({ refresh: '3600' })]);
    await until(() => emitted().length === 2, 'it emits what has changed');
    assert.deepEqual(emitted().sort(), ['online 7', `offline ${TWO}`].sort());
  });

  it('uses defaults for what a flow written by hand lacks, and reports required properties', async () => {
    await load([cloudApp(cloud), node('events')]);
    await shows('events', '3/3');
    await deploy([cloudApp(cloud, { appid: '' }), node('events')]);
    await shows('events', 'status.not-configured');
    await deploy([cloudApp(cloud), node('events', { devices: 'list', chipids: {} as never })]);
    await shows('events', 'status.invalid-input');
    // A second would mean a reading of the list a second.
    const nothing = { refresh: null, misses: null, silence: null, settle: null };
    const { config } = readProperties(nothing as unknown as EventsConfig, DEFAULTS);
    assert.equal(watchOptions(config, assert.fail).refresh, 60_000);
  });

  for (const [property, value] of [
    ['misses', '2.5'],
    ['settle', 'soon'],
  ] as const)
    it(`needs a usable number: ${property}: ${value}`, async () => {
      const events = [property === 'settle' ? 'channel' : 'presence'];
      await load([cloudApp(cloud), node('events', { events, [property]: value })]);
      await shows('events', 'status.invalid-input');
      const problem = new RegExp(`"${property}" must be a .*number from .*${value}`);
      assert.equal(logged(problem, 'events').length, 1);
    });

  it('does not mind a number that it does not use', async () => {
    await load([cloudApp(cloud), node('events', { events: ['presence'], settle: 0 })]);
    await shows('events', '3/3');
  });

  it('can be closed while it reads the list', async () => {
    const silence = await startSilence();
    await load([cloudApp(silence), watcher()]);
    await until(() => silence.accepted() > 0, 'it reads');
    await deploy([cloudApp(cloud)]);
    assert.deepEqual(logged(/./, 'events'), []);
  });
});
