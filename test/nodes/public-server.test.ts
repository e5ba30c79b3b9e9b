import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import type { FlowNode } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { cloudApp, load, node } from './support/flow';
import { arrive, call, fail, post, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const GBK = Buffer.from('cec2b6c83d3231', 'hex');
const HIGH = [4, 9, 12, 15];

describe('the nodes at a service that answers as the public server of 2016', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(nodes: FlowNode[], app: object = {}): Promise<void> {
    cloud = await startCloud({ dialect: 'public-2016', devices: [{ chipid }, { chipid: 2 }] });
    for (const pin of HIGH) cloud.setPin(chipid, pin, 1);
    await load([cloudApp(cloud, app), ...nodes]);
    if (nodes.some(({ id }) => id === 'listen')) await shows('listen', 'status.connected');
  }

  it('emit data of the transparent serial mode with its type, and take it for the latest upload', async () => {
    await start([node('listen', { chipids: [chipid] }), node('latest')]);
    for (const [body, type] of [['a'], ['b', 'uart_trans']] as const)
      cloud.upload(chipid, body, type && { type });
    const messages = await arrive(2);
    assert.deepEqual(
      messages.map((message) => [message.payload, message['type'], 'type' in message]),
      [
        ['a', undefined, false],
        ['b', 'uart_trans', true],
      ],
    );
    const { payload, source } = await call('latest', { chipid });
    assert.deepEqual([payload, source], ['b', 'live']);
  });

  it('decode uploads, match replies and encode pushes in GBK if the charset says so', async () => {
    const channel = { transport: 'channel', format: 'MSG' };
    const nodes = [
      node('listen', { chipids: [chipid] }),
      node('latest'),
      node('push', channel),
      node('request', { match: 'pattern', pattern: '温度=(\\d+)', wires: [] }),
    ];
    await start(nodes, { charset: 'gbk' });
    post('request', { chipid, payload: 'read' });
    await shows('request', 'status.awaiting-reply');
    cloud.upload(chipid, GBK);
    await shows('request', undefined);
    assert.equal((await arrive(1))[0]?.payload, '温度=21');
    assert.equal((await call('latest', { chipid })).payload, '温度=21');
    await call('push', { chipid, payload: '温度' });
    const isReceived = (): boolean => cloud.device(chipid).received.length === 2;
    await until(isReceived, 'it is received');
    assert.equal(cloud.device(chipid).received[1]?.bytes.toString('hex'), 'cec2b6c8');
    const { error } = await fail('push', { chipid, payload: '21 €' }, 'INVALID_INPUT');
    assert.match(error.message, /"€" \(U\+20AC\)/);
  });

  const read = (id: string, properties: object = {}): FlowNode =>
    node('gpio', { id, operation: 'read', ...properties });

  it("reads each pin's own level, and knows which pins there are", async () => {
    const codes = '{"\\u0001":"on"}';
    await start([read('one'), read('all', { pin: '' }), read('coded', { codes })]);
    for (const pin of [0, 4, 5, 9, 10, 15]) {
      const { payload, result } = await call('one', { chipid, pin });
      assert.equal(payload, HIGH.includes(pin) ? 1 : 0, `pin ${pin}`);
      assert.equal(result, '\0\0\0\0\u0001\0\u0001\0\u0001\0\0\u0001');
    }
    const { error, ...rest } = await fail('one', { chipid, pin: 6 }, 'INVALID_RESPONSE');
    assert.match(error.message, /the pins 0, 1, 2, 3, 4, 5, 9, .*: pin 6 is not among them/);
    assert.equal(rest['statusCode'], 200);
    const { payload } = await call('all', { chipid });
    assert.deepEqual(payload, [0, 0, 0, 0, 1, 0, null, null, null, 1, 0, null, 1, 0, 0, 1]);
    assert.equal((await call('coded', { chipid, pin: 4 })).payload, 'on');
  });

  it('warns of a result other than U+0000, which is no error, of each of several devices', async () => {
    const pulse = node('gpio', { id: 'pulse', operation: 'pulse', duration: '1' });
    await start([node('gpio'), pulse, node('gpio', { id: 'many', many: true })]);
    for (const id of ['gpio', 'pulse']) {
      const doubtful = await call(id, { chipid, pin: 6, payload: 1 });
      assert.deepEqual(doubtful.payload, { result: '\u0001' });
      assert.match(String(doubtful['warning']), /U\+0001.*public server of 2016/);
      const { warning } = doubtful;
      assert.equal('warning' in (await call(id, { chipid, pin: 5, payload: 1, warning })), false);
    }
    cloud.switchOff(2);
    const { payload } = await call('many', { chipid: [chipid, 2], pin: 6, payload: 1 });
    const [first, second] = payload as { warning?: string }[];
    assert.match(first?.warning ?? '', /U\+0001/);
    assert.equal(second && 'warning' in second, false);
  });
});
