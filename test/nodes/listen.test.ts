import assert from 'node:assert/strict';
import { mock } from 'node:test';
import helper from 'node-red-node-test-helper';
import type { NodeMessage } from 'node-red';
import type { Simulator, SimulatorOptions } from '../../src/simulator';
import { cloudApp, deploy, load, node } from './support/flow';
import type { FlowNode } from '../tooling/node-red/nodes';
import { arrivedAt, caught, logged, payloads, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';
import { inEachDialect } from '../tooling/dialect';

inEachDialect('the listen node', () => {
  useNodeRed();
  let cloud: Simulator;
  const [one, two, three] = ['10000001', '10000002', '10000003'] as const;

  async function start(nodes: FlowNode[], options: SimulatorOptions = {}): Promise<void> {
    cloud = await startCloud(options);
    await load([cloudApp(cloud), ...nodes]);
  }
  const connected = (chipid: string): Promise<void> =>
    until(() => cloud.channels(chipid) === 1, `the channel of ${chipid} is open`);
  /** Waits for a message with a payload: what was sent before it has come, too, or never will. */
  async function emitted(payload: unknown): Promise<NodeMessage> {
    await until(() => payloads().includes(payload), `${String(payload)} is emitted`);
    return arrivedAt('out').find((msg) => msg.payload === payload)!;
  }

  it('emits each upload of its devices, and of no others', async () => {
    // One with leading zeros is the same device, and so is one that is there twice.
    await start([node('listen', { chipids: [`00${one}`, one, one, two] })]);
    await shows('listen', '2/2');
    cloud.upload(three, 'not for us');
    const { at } = cloud.upload(one, 'first');
    cloud.upload(two, 'second');
    const { _msgid, ...first } = await emitted('first');
    assert.ok(_msgid);
    assert.deepEqual(first, {
      topic: one,
      chipid: one,
      appid: cloud.appid,
      timestamp: Math.floor(at / 1000) * 1000,
      payload: 'first',
    });
    const second = await emitted('second');
    assert.equal(second['chipid'], two);
    assert.notEqual(second._msgid, _msgid);
    assert.deepEqual(payloads().sort(), ['first', 'second']);
  });

  it('listens to a device given by a variable, and names a variable that is not set', async () => {
    process.env['DC_LISTEN_DEVICE'] = two;
    const chipids = ['${DC_LISTEN_UNSET}', '${DC_LISTEN_DEVICE}', one];
    await start([node('listen', { chipids })]);
    Reflect.deleteProperty(process.env, 'DC_LISTEN_DEVICE');
    await connected(one);
    await connected(two);
    const lines = logged(/variable/);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /DC_LISTEN_UNSET is not set/);
  });

  it('listens to the device of each instance of a subflow', async () => {
    const instance = (id: string, value: string, wires: string[]): FlowNode => ({
      ...{ id, type: 'subflow:sub', z: 'tab', x: 0, y: 0, wires: [wires] },
      env: [{ name: 'DEVICE', type: 'str', value }],
    });
    const out = [{ x: 0, y: 0, wires: [{ id: 'listen', port: 0 }] }];
    await start([
      { id: 'sub', type: 'subflow', name: 'sub', in: [], out, env: [] },
      node('listen', { z: 'sub', chipids: ['${DEVICE}'], wires: [] }),
      instance('a', one, ['out']),
      instance('b', two, []),
    ]);
    await connected(one);
    await connected(two);
    assert.equal(cloud.channels(), 2);
    cloud.upload(two, 'of b, which is wired to nothing');
    cloud.upload(one, 'of a');
    assert.equal((await emitted('of a'))['chipid'], one);
    assert.deepEqual(payloads(), ['of a']);
  });

  it('shares its channel with a second node, and each may change its own message', async () => {
    const listen = { chipids: [one], datatype: 'buffer' };
    await start([node('listen', listen), node('listen', { ...listen, id: 'other' })]);
    await shows('listen', 'status.connected');
    await shows('other', 'status.connected');
    assert.equal(cloud.channels(one), 1);
    cloud.upload(one, Buffer.from([1, 2]));
    await until(() => payloads().length === 2, 'both emit it');
    const [first, second] = payloads() as [Buffer, Buffer];
    first.fill(0);
    assert.deepEqual(second, Buffer.from([1, 2]));
    assert.equal(cloud.channels(), 1);
  });

  it('names an invalid chip number, and listens to the other devices', async () => {
    await start([node('listen', { chipids: ['../x', one, ''] })]);
    await connected(one);
    assert.equal(cloud.channels(), 1);
    const lines = logged(/chip number/);
    assert.equal(lines.length, 2);
    assert.match(lines[0]!, /"\.\.\/x"/);
  });

  for (const recover of ['off', 'reconnect'])
    it(`logs what the flow after it throws, and emits later uploads: recover ${recover}`, async () => {
      await start([node('listen', { chipids: [one], recover })]);
      await connected(one);
      // As Node-RED's clone does at a message that is too deep, out of `send`.
      const { mock: send } = mock.method(helper.getNode('listen')!, 'send', () => {
        throw new RangeError('Maximum call stack size exceeded');
      });
      cloud.upload(one, 'spoilt');
      await until(() => send.callCount() === 1, 'it has been sent');
      send.restore();
      cloud.upload(one, 'good');
      await emitted('good');
      assert.deepEqual(payloads(), ['good']);
      assert.equal(logged(/Maximum call stack/).length, 1);
      assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
    });

  it('gives the Catch node as bytes what should be JSON and is not', async () => {
    await start([node('listen', { chipids: [one], datatype: 'json' })]);
    await connected(one);
    cloud.upload(one, 'no JSON');
    cloud.upload(one, '{"good":true}');
    await until(() => payloads().length === 1, 'the good one is emitted');
    const [bad] = await caught(1);
    assert.equal(bad?.error.code, 'INVALID_RESPONSE');
    assert.match(bad.error.message, /10000001/);
    assert.deepEqual([bad.payload, bad.topic], [Buffer.from('no JSON'), one]);
    assert.deepEqual(payloads(), [{ good: true }]);
  });

  it('logs a fault of many devices as one line, and the remaining count when it closes', async () => {
    const devices = 20;
    await start([], { devices });
    const chipids = [...cloud.devices.keys()];
    await deploy([cloudApp(cloud), node('listen', { chipids, recover: 'reconnect' })]);
    await until(() => cloud.channels() === devices, 'the channels are open');
    cloud.fail('server-error', { path: 'up_messages' });
    cloud.disconnect(undefined, 1011);
    // A reading is tried three times before it counts as failed.
    await until(() => logged(/could not be recovered/).length > 0, 'a history counts as unread');
    assert.equal(logged(/could not be recovered/).length, 1);
    assert.match(logged(/is down/).join('\n'), /^Device \d+: .*$/);
    await helper.unload();
    assert.match(logged(/is down/)[1] ?? '', /^19 more of this kind/);
  });
});
