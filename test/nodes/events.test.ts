import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { NodeMessage } from 'node-red';
import { DEFAULTS, type EventsConfig } from '../../nodes/events/events.config';
import { withDefaults } from '../../nodes/common/shared.config';
import { SavedState } from '../../nodes/events/saved-state';
import { watchOptions } from '../../nodes/events/events.runtime';
import type { Simulator } from '../../src/simulator';
import { configureContextStore } from './support/context';
import { nodeWith } from './support/context-store';
import { cloudApp, deploy, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, shows, statusesOf } from './support/messages';
import { startCloud, startSilence, useNodeRed } from './support/node-red';
import { settled, until } from '../../tooling/until';

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
/** What the node has logged. */
const logged = (): string[] =>
  journal.logs.filter(({ id }) => id === 'events').map(({ msg }) => String(msg));
const emits = (...expected: string[]): Promise<void> =>
  until(() => emitted().join() === expected.join(), `it emits ${expected.join()}`);

describe('the events node', () => {
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
    assert.ok(logged().some((line) => line.includes('chip number')));
  });

  it('repeats nothing after a deploy, and with a stored context emits what has changed meanwhile', async () => {
    await load([cloudApp(cloud)]);
    await configureContextStore();
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

  it('with current emits each state once at each start', async () => {
    await start({ start: 'current' });
    const all = [`online ${ONE}`, `online ${TWO}`, `online ${HUGE}`];
    await until(() => emitted().length === 3, 'every state');
    await deploy([cloudApp(cloud), watcher({ start: 'current' })]);
    await until(() => emitted().length === 6, 'every state again');
    assert.deepEqual(emitted().sort(), [...all, ...all].sort());
  });

  it('uses defaults for what a flow written by hand lacks, and reports required properties', async () => {
    await load([cloudApp(cloud), node('events')]);
    await shows('events', '3/3');
    await deploy([cloudApp(cloud, { appid: '' }), node('events')]);
    await shows('events', 'status.not-configured');
    await deploy([cloudApp(cloud), node('events', { devices: 'list', chipids: ONE })]);
    await shows('events', 'status.invalid-input');
    // A second would mean a reading of the list a second.
    const nothing = { refresh: null, misses: null, silence: null, settle: null };
    const config = withDefaults(nothing as unknown as EventsConfig, DEFAULTS);
    assert.equal(watchOptions(config, assert.fail).refresh, 60_000);
  });

  it('can be closed while it reads the list', async () => {
    const silence = await startSilence();
    await load([cloudApp(silence), watcher()]);
    await until(() => silence.accepted() > 0, 'it reads');
    await deploy([cloudApp(cloud)]);
    assert.deepEqual(logged(), []);
  });
});

describe('the state of an events node in a context store', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('is written once for simultaneous changes, at most once a second, and when the node closes', async () => {
    const written: unknown[] = [];
    let state = 0;
    const node = nodeWith({ set: (value, callback) => void (written.push(value), callback(null)) });
    const saved = new SavedState(node, () => ({ state }), assert.ifError);
    const change = async (): Promise<void> => {
      state++;
      saved.changed();
      await settled();
    };
    for (; state < 5000; state++) saved.changed();
    await settled();
    assert.deepEqual(written, [{ state: 5000 }]);
    await change();
    assert.equal(written.length, 1);
    mock.timers.tick(1000);
    await settled();
    assert.deepEqual(written.at(-1), { state: 5001 });
    mock.timers.tick(1000);
    await settled();
    mock.timers.tick(60_000);
    await settled();
    assert.equal(written.length, 2);
    await change();
    await change();
    await saved.close();
    assert.deepEqual(written.slice(2), [{ state: 5002 }, { state: 5003 }]);
  });

  it('is written without a change of the last turn, whose message is dropped by Node-RED', async () => {
    const written: unknown[] = [];
    let state = 1;
    const node = nodeWith({ set: (value, callback) => void (written.push(value), callback(null)) });
    const saved = new SavedState(node, () => ({ state }), assert.ifError);
    saved.changed();
    await settled();
    state++;
    saved.changed();
    await saved.close();
    await settled();
    assert.deepEqual(written, [{ state: 1 }]);
  });

  it('is optional: a broken store is reported once', async () => {
    const failures: unknown[] = [];
    let broken = true;
    const node = nodeWith({
      get: (callback) => callback(new Error('not connected')),
      set: (_value, callback) => callback(broken ? new Error('disk full') : null),
    });
    const saved = new SavedState(
      node,
      () => ({}),
      (error) => failures.push(error),
    );
    const change = async (): Promise<void> => {
      saved.changed();
      await settled();
      mock.timers.tick(1000);
      await settled();
    };
    assert.equal(await saved.read(), undefined);
    await change();
    await change();
    assert.equal(failures.length, 1);
    broken = false;
    await change();
    broken = true;
    await change();
    assert.equal(failures.length, 2);
  });

  it('delays neither the start nor the close if the store never answers', async () => {
    const failures: unknown[] = [];
    const saved = new SavedState(
      nodeWith({}),
      () => ({}),
      (error) => failures.push(error),
    );
    const reading = saved.read();
    mock.timers.tick(5000);
    assert.equal(await reading, undefined);
    assert.equal(failures.length, 1);
    saved.changed();
    await settled();
    const closing = saved.close();
    mock.timers.tick(3000);
    await closing;
  });
});
