import assert from 'node:assert/strict';
import { keep, useNodeRed } from './support/node-red';
import { cloudApp, load, node } from './support/flow';
import { arrivedAt, call, fail, send } from './support/messages';
import { publicCloud, PUBLIC_KEY, type PublicCloud } from '../tooling/servers/public-cloud';
import type { FlowNode } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';

const chipid = '8454703';
const GBK = Buffer.from('cec2b6c83d3231', 'hex');

describe('the nodes with a service that answers as the public server of 2016', () => {
  useNodeRed();
  let cloud: PublicCloud;

  async function start(nodes: FlowNode[], properties: object = {}): Promise<void> {
    cloud = await keep(publicCloud());
    await load([cloudApp(cloud, properties), ...nodes], { app: { appkey: PUBLIC_KEY } });
  }
  const opened = (): Promise<void> =>
    until(() => cloud.channels.get(chipid)?.readyState === 1, 'the channel is open');
  const out = async (count: number) => {
    await until(() => arrivedAt('out').length >= count, `${count} messages arrive`);
    return arrivedAt('out');
  };

  it('emit data of the transparent serial mode with its type', async () => {
    const latest = node('latest', { chipid: '', wires: [['found']] });
    await start([node('listen', { chipids: [chipid] }), latest]);
    await opened();
    cloud.send(chipid, Buffer.from('a'), 'uart_trans');
    cloud.send(chipid, Buffer.from('b'));
    cloud.send(chipid, Buffer.from('c'), 'something_else');
    cloud.send(chipid, Buffer.from('d'));
    const messages = await out(3);
    assert.deepEqual(
      messages.map(({ payload, type }) => [payload, type]),
      [
        ['a', 'uart_trans'],
        ['b', undefined],
        ['d', undefined],
      ],
    );
    assert.ok(!('type' in messages[1]!));
  });

  it('take data of the transparent serial mode for the latest upload', async () => {
    const listen = node('listen', { chipids: [chipid], wires: [['nowhere']] });
    await start([listen, node('latest')]);
    await opened();
    cloud.send(chipid, Buffer.from('a'), 'uart_trans');
    await until(async () => {
      const { error } = await send('latest', { chipid });
      return error === undefined;
    }, 'it is known');
    const { payload, source } = await call('latest', { chipid });
    assert.deepEqual([payload, source], ['a', 'live']);
  });

  it('decode uploads and encode pushes in GBK', async () => {
    const push = node('push', { transport: 'channel', format: 'MSG', wires: [['pushed']] });
    await start([node('listen', { chipids: [chipid] }), push, node('latest')], { charset: 'gbk' });
    await opened();
    cloud.send(chipid, GBK);
    cloud.send(chipid, Buffer.from('温度=22'));
    assert.deepEqual(
      (await out(2)).map(({ payload }) => payload),
      ['温度=21', '温度=22'],
    );
    cloud.send(chipid, GBK);
    await out(3);
    assert.equal((await call('latest', { chipid })).payload, '温度=21');
    await send('push', { chipid, payload: '温度' });
    await until(() => cloud.received.length === 1, 'it is received');
    assert.equal(cloud.received[0]?.toString('hex'), 'cec2b6c8');
    const { error } = await fail('push', { chipid, payload: '21 €' }, 'INVALID_INPUT');
    assert.match(String((error as { message: string }).message), /"€" \(U\+20AC\)/);
  });

  it('give an upload in GBK as a Buffer unless the charset is set', async () => {
    await start([node('listen', { chipids: [chipid] })]);
    await opened();
    cloud.send(chipid, GBK);
    const [message] = await out(1);
    assert.deepEqual(message?.payload, GBK);
  });

  it('match a reply in GBK', async () => {
    const request = node('request', { match: 'pattern', pattern: '温度=(\\d+)' });
    await start([request], { charset: 'gbk' });
    const asked = call('request', { chipid, payload: 'read' });
    await until(() => cloud.paths.some((path) => path.includes('push')), 'it is pushed');
    cloud.send(chipid, GBK);
    assert.equal((await asked).payload, '温度=21');
  });
});
