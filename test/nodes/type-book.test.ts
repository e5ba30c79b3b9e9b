import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper from 'node-red-node-test-helper';
import type { FleetAnswer } from '../../nodes/app/answers.config';
import type { Simulator } from '../../src/simulator';
import type { FlowNode } from '../tooling/node-red/nodes';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';
import type { AppNode } from '../../nodes/app/deployed';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrive, arrivedAt, call, caught, logged } from './support/messages';
import { read, withoutPermission } from './support/routes';
import { startCloud, useNodeRed } from './support/node-red';

const type = (name: string, properties: object): FlowNode => ({
  ...{ id: `type-${name}`, type: 'device-cloud-type', name },
  ...properties,
});

const BYTES = type('meter', {
  decode: 'bytes',
  bytes: 'u8 t / 2',
  units: '{"t":"°C"}',
  pins: 'lamp: 1',
});
const PAIRS = type('pump', { decode: 'pairs', pins: 'lamp: 2 low' });

/** What the user of the requests lacks. */
let lacking = '';

describe('types that the device book names', () => {
  useNodeRed();
  let cloud: Simulator;
  let nodes: FlowNode[];

  beforeEach(async () => {
    lacking = '';
    cloud = await startCloud({ devices: ['1', '2', '3'].map((chipid) => ({ chipid })) });
    const path = join(temporaryFolder('type-book'), 'devices.csv');
    writeFileSync(path, 'chipid,type\n1,meter\n2,pump\n3,unknown\n');
    nodes = [
      cloudApp(cloud, { book: path }),
      ...[BYTES, PAIRS],
      node('listen', { chipids: ['1', '2', '3'], recover: 'off' }),
      node('gpio', { many: true }),
    ];
    await load(nodes, undefined, [withoutPermission(() => lacking)]);
    await until(() => cloud.channels() === 3, 'the channels are open');
    const app = helper.getNode('app') as AppNode;
    await until(() => app.app.fleet?.book?.file.devices.size === 3, 'the book was read');
  });

  const payloads = async (count: number): Promise<unknown[]> =>
    (await arrive(count)).map(({ payload }) => payload);

  const shown = async () =>
    (await read<FleetAnswer>('apps/app/fleet')).devices.find(({ chipid }) => chipid === '1');

  it('decode each device by its own; a name without a type is a label', async () => {
    cloud.upload('1', '+');
    cloud.upload('2', 't=3');
    for (const text of ['t=4', 't=5']) cloud.upload('3', text);
    const found = await payloads(4);
    for (const payload of [{ t: 21.5 }, { t: 3 }, 't=4', 't=5'])
      assert.ok(found.some((each) => JSON.stringify(each) === JSON.stringify(payload)));
  });

  it('raise alarms by their limits, which the fleet shows; a line that is no limit is left out', async () => {
    const limits = 't > 30 clear < 28\nt ! 3';
    const typed = nodes.map((each) => (each.id === BYTES.id ? { ...each, limits } : each));
    await deploy([...typed, node('events', { events: ['alarm'] })]);
    await until(() => cloud.channels() === 3, 'the channels are open');
    assert.equal(
      logged(/"meter" has a limit that cannot be read and is left out: "t ! 3"/).length,
      1,
    );
    const alarms = () => arrivedAt('out').filter((message) => 'event' in message);
    for (const byte of [50, 62, 64]) cloud.upload('1', Buffer.from([byte]));
    await until(() => alarms().length === 1, 'the alarm is emitted');
    const limit = 't > 30 clear < 28';
    assert.deepEqual((await shown())?.alarms, [{ field: 't', value: 31, limit }]);
    cloud.upload('1', Buffer.from([40]));
    await until(() => alarms().length === 2, 'that it is over is emitted');
    assert.equal((await shown())?.alarms, undefined);
    assert.deepEqual(
      alarms().map(({ topic, chipid, event, payload }) => {
        const { field, value, limit: line } = payload as Record<string, unknown>;
        return [topic, chipid, event, field, value, line];
      }),
      [
        ['1', '1', 'alarm', 't', 31, limit],
        ['1', '1', 'cleared', 't', 20, limit],
      ],
    );
  });

  it('name the pins of each device', async () => {
    const chipid = ['1', '2', '3'];
    const { payload } = await call('gpio', { chipid, pin: 'lamp', payload: 1 });
    const results = payload as { ok: boolean; error?: { message: string } }[];
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [true, true, false],
    );
    assert.match(results[2]?.error?.message ?? '', /the device has no type that names its pins/);
    assert.deepEqual([cloud.device('1').levels[1], cloud.device('2').levels[2]], ['1', '0']);
  });

  it('show the latest values with units, and an upload to try a type only to those who may see it', async () => {
    cloud.upload('1', '+');
    await payloads(1);
    assert.equal((await shown())?.latest, 't: 21.5 °C');
    const details = (query: string): Promise<{ upload?: unknown }> =>
      read(`apps/app/devices/1${query}`);
    assert.deepEqual((await details('?upload')).upload, { hex: '2b', size: 1 });
    assert.equal('upload' in (await details('')), false);
    lacking = 'flows.read';
    assert.equal('upload' in (await details('?upload')), false);
  });

  it('are the ones that were deployed last, also while a listener runs on', async () => {
    const changed = { ...BYTES, bytes: 'u8 t * 2' };
    await deploy(
      nodes.map((each) => (each.id === 'type-meter' ? changed : each)),
      'nodes',
    );
    cloud.upload('1', '+');
    assert.deepEqual(await payloads(1), [{ t: 86 }]);
    await deploy(
      nodes.filter(({ id }) => id !== 'type-meter'),
      'nodes',
    );
    cloud.upload('1', '+');
    assert.deepEqual((await payloads(2))[1], '+');
  });

  it('decode nothing while two have one name', async () => {
    await deploy([...nodes, { ...PAIRS, id: 'other', name: 'meter' }], 'nodes');
    cloud.upload('1', '+');
    const [error] = await caught(1);
    assert.match(error?.error.message ?? '', /Two types are called "meter"/);
    assert.deepEqual(error?.payload, Buffer.from('+'));
  });
});
