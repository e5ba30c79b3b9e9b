import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import type { Simulator } from '../../src/simulator';
import { inEachDialect } from '../tooling/dialect';
import type { FlowNode } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { cloudApp, deploy, load, node, simulatorApp } from './support/flow';
import { arrivedAt, call, caught, fail, logged, send, shows, statusesOf } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const [one, two] = ['10000001', '10000002'] as const;
const listen = (properties: object = {}): FlowNode =>
  node('listen', { chipids: [one], acknowledge: 'ack', ...properties });
const uploads = (): NodeMessage[] => arrivedAt('out').filter((msg) => 'timestamp' in msg);

inEachDialect('the ack node', () => {
  useNodeRed();
  let cloud: Simulator;
  const flow = (properties: object = {}): FlowNode[] => [
    cloudApp(cloud),
    listen(properties),
    node('ack'),
  ];

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    await load(flow(properties));
    await shows('listen', 'status.connected');
  }
  const payloads = (): unknown[] => uploads().map(({ payload }) => payload);
  async function emitted(count: number): Promise<NodeMessage> {
    await until(() => uploads().length >= count, `${count} uploads are emitted`);
    return uploads().at(-1)!;
  }

  it('lets the next upload of the device follow, and passes its message on unchanged', async () => {
    await start();
    cloud.upload(one, 'first');
    cloud.upload(one, 'second');
    const { ack } = await emitted(1);
    assert.equal(typeof ack, 'string');
    const passed = await call('ack', { ack, payload: 'written', kept: true });
    const { _msgid, ...rest } = passed;
    assert.deepEqual(rest, { ack, payload: 'written', kept: true });
    await emitted(2);
    assert.deepEqual(payloads(), ['first', 'second']);
    assert.deepEqual(statusesOf('ack').at(-1) ?? {}, {});
    await call('ack', { ack });
  });

  it('fails with a text that is no token, or of another application', async () => {
    await start();
    for (const ack of [undefined, '', 'x', 7, { ack: 'x' }]) {
      const { error } = await fail('ack', { ack }, 'INVALID_INPUT');
      assert.match(error.message, /msg\.ack must be/);
    }
  });

  it('is waited for: what is not acknowledged comes again, and then ends with an error', async () => {
    await start({ redeliver: 1, attempts: 2 });
    cloud.upload(one, '{"n":1}');
    cloud.upload(one, '{"n":2}');
    await shows('listen', '⏳ 1');
    const [givenUp] = await caught(1);
    assert.equal(givenUp?.error.code, 'NOT_ACKNOWLEDGED');
    assert.deepEqual([givenUp.payload, 'ack' in givenUp], [{ n: 1 }, false]);
    await emitted(3);
    assert.deepEqual(payloads().slice(0, 3), [{ n: 1 }, { n: 1 }, { n: 2 }]);
    assert.deepEqual(
      uploads()
        .slice(0, 3)
        .map(({ redelivered }) => redelivered),
      [undefined, true, undefined],
    );
  });

  it('is not needed for what cannot be decoded', async () => {
    await start({ datatype: 'json' });
    cloud.upload(one, 'no JSON');
    cloud.upload(one, '{"n":2}');
    const { payload } = await emitted(1);
    assert.deepEqual(payload, { n: 2 });
    const [error] = await caught(1);
    assert.equal(error?.error.code, 'INVALID_RESPONSE');
  });

  for (const [property, value, problem] of [
    ['recover', 'reconnect', /Recover.*also those missed during a restart/],
    ['redeliver', '86401', /"redeliver" must be a number from 1 to .*86401/],
    ['attempts', 2.5, /"attempts" must be a whole number from 1 to .*2\.5/],
  ] as const)
    it(`is waited for by no listener with ${property}: ${value}`, async () => {
      cloud = await startCloud();
      await load(flow({ [property]: value }));
      await shows('listen', 'status.invalid-input');
      assert.equal(logged(problem, 'listen').length, 1);
      assert.equal(cloud.channels(one), 0);
    });

  it('is waited for while a channel is lost or refused, and the status says both', async () => {
    await start();
    cloud.upload(one, 'first');
    await emitted(1);
    const last = () => statusesOf('listen').at(-1);
    for (const [fault, text] of [
      ['reset-upgrade', /^0\/1 ⏳ 1/],
      ['refuse-upgrade', /^401 ⏳ 1/],
    ] as const) {
      await until(() => last()?.fill === 'blue', 'only waiting is shown');
      cloud.fail(fault);
      cloud.disconnect();
      const isShown = (): boolean => last()?.fill === 'red' && text.test(String(last()?.text));
      await until(isShown, `${fault} is shown`);
      cloud.heal();
    }
  });

  it('is not waited for any more once the device is unsubscribed', async () => {
    cloud = await startCloud();
    await load(flow({ devices: 'dynamic' }));
    const tell = async (action: string): Promise<void> => {
      await send('listen', { action, chipid: one });
      if (action === 'subscribe') await shows('listen', 'status.connected');
    };
    await tell('subscribe');
    cloud.upload(one, 'first');
    cloud.upload(one, 'second');
    const { ack } = await emitted(1);
    await tell('unsubscribe');
    await shows('listen', 'status.no-devices');
    await call('ack', { ack });
    await tell('subscribe');
    cloud.upload(one, 'third');
    await emitted(2);
    assert.deepEqual(payloads(), ['first', 'third']);
    assert.equal(uploads()[1]?.['redelivered'], undefined);
  });
});

describe('the ack node on the built-in simulator', () => {
  useNodeRed();

  for (const type of ['nodes', 'full'] as const)
    it(`works over a deploy: ${type}`, async () => {
      const onSimulator = (name: string): FlowNode[] => [
        simulatorApp({ name: type === 'full' ? name : '' }),
        listen({ chipids: [one, two], name }),
        node('ack'),
      ];
      await load(onSimulator('before'));
      await until(() => uploads().length >= 2, 'both devices upload');
      const before = uploads();
      await deploy(onSimulator('after'), type);
      await until(() => uploads().length >= before.length + 2, 'both come again');
      const first = ({ topic }: NodeMessage): NodeMessage =>
        before.find((each) => each.topic === topic)!;
      for (const again of uploads().slice(before.length)) {
        assert.deepEqual(again.payload, first(again).payload);
        assert.ok(again['redelivered']);
        await call('ack', { ack: first(again)['ack'] });
      }
      await until(() => uploads().length >= before.length + 4, 'the next ones follow');
      for (const next of uploads().slice(-2)) {
        assert.equal(next['redelivered'], undefined);
        assert.ok(Number(next['timestamp']) > Number(first(next)['timestamp']));
      }
    });
});
