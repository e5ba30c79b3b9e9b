import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import helper from 'node-red-node-test-helper';
import type { AppProblem, DeviceDetails, FleetAnswer } from '../../../nodes/app/answers.config';
import type { Simulator } from '../../../src/simulator';
import { temporaryFolder } from '../../tooling/temporary-folder';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { until } from '../../tooling/until';
import { openWithRecovery, PATIENCE } from '../support/listening';
import { cloudApp, deploy, load, node } from '../support/flow';
import { reversed } from '../support/histories';
import { read } from '../support/routes';
import { arrivedAt, call, fail } from '../support/messages';
import { startCloud, startWith, stateFolder, useNodeRed } from '../support/node-red';

const DEVICE = '10000001';

const fleet = (): Promise<FleetAnswer> => read('apps/app/fleet');
const problems = async (): Promise<AppProblem[]> => (await fleet()).problems ?? [];
const kinds = async (): Promise<string[]> => (await problems()).map(({ kind }) => kind);
const mended = (): Promise<void> =>
  until(async () => (await kinds()).length === 0, 'nothing is wrong', PATIENCE);

describe('what is wrong with an application, for the editor', () => {
  useNodeRed();
  let cloud: Simulator;
  let path: string;

  beforeEach(() => {
    path = join(temporaryFolder('problems'), 'devices.csv');
  });

  const type = (properties: object = {}): FlowNode => ({
    ...{ id: 'type', type: 'device-cloud-type', name: 'climate' },
    ...properties,
  });

  async function start(book: string, nodes: FlowNode[]): Promise<FlowNode[]> {
    cloud = await startCloud();
    writeFileSync(path, book);
    const flow = [cloudApp(cloud, { book: path }), ...nodes];
    await load(flow);
    return flow;
  }

  it('has a type that the book names and that is not deployed, until it is', async () => {
    const flow = await start('chipid,type\n1,climate\n2,climate\n', [node('push')]);
    await until(async () => (await kinds()).length > 0, 'the book was read');
    assert.deepEqual(await problems(), [{ kind: 'type', name: 'climate' }]);
    await deploy([...flow, type()], 'nodes');
    await mended();
  });

  it('has each group that nodes are for and no device is in, until the book has it', async () => {
    const to = { chipidType: 'group', many: true };
    await start('chipid,groups\n1,north\n', [
      node('push', { ...to, chipid: 'pumps' }),
      node('reboot', { ...to, chipid: ' pumps ' }),
      node('gpio', { ...to, chipid: 'north' }),
      node('listen', { devices: 'group', group: 'lamps' }),
      node('events', { devices: 'group', group: '' }),
      node('refresh', { chipid: 'doors', chipidType: 'str' }),
      { ...node('rt-status', { ...to, chipid: 'off' }), d: true },
    ]);
    await until(async () => (await kinds()).length > 0, 'the book was read');
    assert.deepEqual(await problems(), [
      { kind: 'group', name: 'pumps', node: 'push' },
      { kind: 'group', name: 'lamps', node: 'listen' },
    ]);
    writeFileSync(path, 'chipid,groups\n1,north;pumps\n2,lamps\n');
    await mended();
  });

  it('has rows that are left out, and a file that is no book, until they are mended', async () => {
    await start('chipid,name\n1,One\nx,Two\n1,Twice\n', [node('push')]);
    await until(async () => (await kinds()).length > 0, 'the book was read');
    assert.deepEqual(await problems(), [{ kind: 'rows', number: 2 }]);
    writeFileSync(path, 'name\nOne\n');
    await until(async () => (await kinds())[0] === 'book', 'the file was read');
    assert.match(JSON.stringify(await problems()), /must name its columns/);
    writeFileSync(path, 'chipid,name\n1,One\n');
    await mended();
  });

  it('has a key that is refused, until the list can be read', async () => {
    cloud = await startWith(node('push'), node('devices'));
    await mended();
    const recover = cloud.fail('unauthorized');
    await fail('push', { chipid: DEVICE, payload: 'x' }, 'UNAUTHORIZED');
    const [problem, ...others] = await problems();
    assert.deepEqual([problem?.kind, others], ['key', []]);
    recover();
    assert.deepEqual(await kinds(), ['key']);
    await call('devices', {});
    await mended();
  });

  it('has settings that are missing, but none of an interface that is not used', async () => {
    cloud = await startCloud();
    const flow = [cloudApp(cloud), node('push')];
    await load(flow, { app: {} });
    assert.match(JSON.stringify(await problems()), /^\[\{"kind":"settings","reason":".*app key/);
    await helper.unload();
    const { serverKey, serverPassword } = cloud;
    await load(flow, { app: { serverKey, serverPassword } });
    await mended();
  });

  it('has state that is not kept, until it is written', async () => {
    cloud = await startWith(node('gpio', { operation: 'keep' }));
    mkdirSync(dirname(stateFolder), { recursive: true });
    rmSync(stateFolder, { recursive: true, force: true });
    writeFileSync(stateFolder, 'no folder');
    await call('gpio', { chipid: DEVICE, pin: 5, payload: 1 });
    await until(async () => (await kinds()).includes('store'), 'it says so', PATIENCE);
    assert.deepEqual(await kinds(), ['store']);
    rmSync(stateFolder);
    await mended();
  });

  it('has a history that is not understood, until it is', async () => {
    cloud = await startCloud();
    await openWithRecovery(cloud, [DEVICE]);
    cloud.rewriteHistory(reversed);
    const come = (count: number): Promise<void> =>
      until(() => arrivedAt('out').length === count, 'it has come');
    for (const text of ['t=21.1', 't=21.2', 't=21.3']) cloud.upload(DEVICE, text);
    await come(3);
    cloud.disconnect(DEVICE);
    cloud.upload(DEVICE, 'missed');
    await until(async () => (await kinds()).length > 0, 'it says so', PATIENCE);
    assert.deepEqual(await problems(), [{ kind: 'history', number: 1, chipids: [DEVICE] }]);
    cloud.rewriteHistory();
    await mended();
  });

  it('says the revision of the book, so that what it lacks can be added', async () => {
    await start('chipid\n1\n', [node('push')]);
    await until(async () => Boolean((await fleet()).book), 'the book was read');
    const { revision } = await read<{ revision: string }>('apps/app/book?brief');
    assert.equal((await fleet()).book, revision);
  });

  it('decodes uploads by the type of the book or, where that names none, by that of a listener', async () => {
    const pairs = { decode: 'pairs', units: 'temperature: °C' };
    const other = { id: 'type2', name: 'other', decode: 'bytes', bytes: 'u8 battery' };
    const LISTENED = '10000002';
    await start(`chipid,name,type\n${DEVICE},One,other\n${LISTENED},Two,\n`, [
      type(pairs),
      type(other),
      node('listen', { chipids: [DEVICE, LISTENED], deviceType: 'type' }),
    ]);
    await until(() => cloud.channels() === 2, 'the channels are open');
    cloud.upload(DEVICE, Buffer.from([77]));
    for (const n of [21, 22.5]) cloud.upload(LISTENED, `temperature=${n};mode=auto`);
    cloud.upload(LISTENED, `temperature=23;${'x'.repeat(2000)}=1`);
    const of = (chipid: string): Promise<DeviceDetails> => read(`apps/app/devices/${chipid}`);
    await until(async () => (await of(LISTENED)).uploads?.length === 3, 'all have come');
    await until(async () => (await of(DEVICE)).uploads?.length === 1, 'it has come');
    const { uploads: [long, ...uploads] = [], units, type: name } = await of(LISTENED);
    assert.deepEqual([name, units], ['climate', { temperature: '°C' }]);
    // What is not kept whole is shown as it came.
    assert.match(long?.text ?? '', /^temperature=23;x+…$/);
    assert.ok(long && !('numbers' in long) && !('body' in long));
    assert.deepEqual(
      uploads.map(({ text, numbers }) => [text, numbers]),
      [
        ['temperature: 22.5 °C · mode: auto', { temperature: 22.5 }],
        ['temperature: 21 °C · mode: auto', { temperature: 21 }],
      ],
    );
    const { uploads: typed, type: ofBook } = await of(DEVICE);
    assert.deepEqual(
      [ofBook, typed?.[0]?.text, typed?.[0]?.numbers],
      ['other', 'battery: 77', { battery: 77 }],
    );
    const { devices } = await fleet();
    assert.deepEqual(
      devices.map(({ chipid, type: named, latest }) => [chipid, named, latest?.slice(0, 15)]),
      [
        [DEVICE, 'other', 'battery: 77'],
        [LISTENED, 'climate', 'temperature: 23'],
      ],
    );
  });
});
