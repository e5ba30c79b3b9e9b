import assert from 'node:assert/strict';
import { DeviceCloudClient } from '../../src/client';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { ONE, THREE, TWO } from './harness/fixture';
import { LOOPBACK } from '../../tooling/servers/certs';
import { answerServer, type HostileServer } from '../../tooling/servers/hostile-servers';
import { startProxy, type TestProxy } from '../../tooling/servers/proxy';
import { until } from '../../tooling/until';
import { startNodeRed } from './harness/node-red';
import type { Message, NodeRed } from './harness/node-red';
import { due, saved, userFiles } from './harness/saved';
import type { Case } from './harness/saved';

const withoutId = (message: Message): Message =>
  Object.fromEntries(Object.entries(message).filter(([name]) => name !== '_msgid'));

/** Properties of messages that version 1.0 did not have. */
const ADDED = ['timestamp', 'name'];

/** Messages without the properties that were added since, where the ones of version 1.0 have none. */
const asThen = (messages: Message[], then: readonly object[]): Message[] =>
  messages.map((message, index) => {
    const had = (name: string): boolean => Object.hasOwn(then[index] ?? {}, name);
    const kept = Object.entries(message).filter(([name]) => had(name) || !ADDED.includes(name));
    return Object.fromEntries(kept);
  });

describe('a Node-RED with flows, credentials and context of version 1.0', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let proxy: TestProxy;
  /** A service whose certificate nobody knows. */
  let secure: HostileServer;

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1, rebootTime: 50 });
    for (const t of [20, 21, 22]) simulator.upload(ONE, { t });
    simulator.upload(TWO, Buffer.from('hello').toString('base64'));
    const client = new DeviceCloudClient({ ...simulator, proxy: false });
    try {
      await client.push(THREE, 'seed');
    } finally {
      await client.close();
    }
    proxy = await startProxy();
    secure = await answerServer({ status: 'online', msg: 'secure' }, LOOPBACK);
    red = await startNodeRed({
      files: userFiles(),
      settings: { contextStorage: { default: { module: 'localfilesystem' } } },
      env: {
        DEVICE_CLOUD_BASE_URL: simulator.baseUrl,
        DEVICE_CLOUD_APPID: simulator.appid,
        DEVICE_CLOUD_APPKEY: simulator.appkey,
        DEVICE_CLOUD_SERVER_KEY: simulator.serverKey,
        DEVICE_CLOUD_SERVER_PASSWORD: simulator.serverPassword,
        DEVICE_CLOUD_HTTPS_URL: secure.baseUrl,
        DEVICE_CLOUD_PROXY: proxy.url,
      },
    });
  });
  after(async () => {
    await red.stop();
    await simulator.close();
    await proxy.close();
    await secure.close();
  });

  const shows = (node: string, text: string): Promise<void> =>
    until(async () => {
      return (await red.results(node, 'status')).at(-1)?.status?.text === text;
    }, `${node} shows ${text}`);

  for (const [go, cases] of Object.entries(saved.behaviour)) {
    it(`sends the same messages as version 1.0: ${go}`, async () => {
      const from = simulator.requests.length;
      // One after the other, so that commands to one device arrive in order; then all ends at once.
      for (const { node, send } of cases) await red.inject(node, send);
      for (const one of cases) await check(one, from);
    });
  }

  async function check({ node, gives, request, body }: Case, from: number): Promise<void> {
    await until(
      async () => (await red.results(node)).some((msg) => 'error' in msg || 'complete' in msg),
      `${node} is done`,
    );
    const errors = await red.results(node, 'error');
    assert.deepEqual(errors, [], node);
    const out = asThen((await red.results(node, 'out')).map(withoutId), gives);
    assert.deepEqual(out, due(gives, out), node);
    if (request === undefined) return;
    const asked = simulator.requests
      .slice(from)
      .map((each) => ({ request: `${each.method} ${each.path}`, body: each.body }))
      .filter((each) => each.request.startsWith(request) && (body ?? '') === each.body);
    assert.ok(asked.length > 0, `${node} asks ${request} with "${body ?? ''}"`);
  }

  it('keeps its listeners connected, with the same output as before', async () => {
    const two = Object.keys(saved.uploads).filter((node) => !/online|by-hand/.test(node));
    for (const node of two) await shows(node, '2/2');
    await shows('f10-listen-online', '3/3');
    await shows('f10-listen-by-hand', 'status.connected');
    await red.waitFor('f10-listen-restart', 'out');
    simulator.upload(ONE, { t: 23 });
    simulator.upload(TWO, 'text');
    for (const [node, messages] of Object.entries(saved.uploads)) {
      const arrived = (await red.waitFor(node, 'out', messages.length)).map(withoutId);
      const out = asThen(arrived, messages);
      assert.deepEqual(out, due(messages, out), node);
    }
    const [failure] = await red.waitFor('f10-listen-json', 'error');
    assert.equal(failure!.error?.code, 'INVALID_RESPONSE');
    assert.deepEqual(failure!.payload, { $buffer: Buffer.from('text').toString('hex') });
  });

  it('has a listener whose devices are chosen by messages', async () => {
    const ask = (message: Message): Promise<unknown> => red.ask('f10-listen-dynamic', message);
    await ask({ action: 'subscribe', chipid: [ONE, 10000002] });
    await shows('f10-listen-dynamic', '2/2');
    await ask({ action: 'unsubscribe', chipid: TWO });
    await ask({ action: 'list' });
    const [list] = await red.waitFor('f10-listen-dynamic', 'out');
    assert.deepEqual(list?.payload, [ONE]);
    simulator.upload(ONE, 'dynamic');
    const [, upload] = await red.waitFor('f10-listen-dynamic', 'out', 2);
    assert.equal(upload?.payload, 'dynamic');
  });

  it('respects the gap and the number of connections of an application', async () => {
    const node = 'f10-refresh-app-unusual';
    const path = (chipid: string): string => `/openapi/manual_refresh/${chipid}/`;
    const asked = (chipid: string): number[] =>
      simulator.requests.filter((each) => each.path === path(chipid)).map(({ at }) => at);
    const before = asked(TWO).length;
    const devices = [...simulator.devices.values()];
    await until(() => devices.every(({ online }) => online), 'all have booted again');
    simulator.delay(TWO, 200);
    await red.inject(node, { chipid: TWO }, { chipid: TWO }, { chipid: THREE });
    await red.waitFor(node, 'complete', 3);
    const [first = 0, second = 0] = asked(TWO).slice(before);
    // Lower bounds: the one connection is taken for 200 ms, and the gap is 300 ms more.
    assert.ok(asked(THREE).at(-1)! - first >= 195, 'one connection');
    assert.ok(second - first >= 495, 'a gap');
  });

  it('respects the heartbeat, the ping and the timestamp of an application', async () => {
    const timestamps = simulator.requests
      .filter(({ path }) => path === '/noticed/peer')
      .map(({ query }) => new URLSearchParams(query))
      .map((query) => [query.get('chipid'), query.get('timestamp')?.length]);
    assert.ok(timestamps.some(([chipid, digits]) => chipid === THREE && digits === 10));
    assert.ok(timestamps.some(([chipid, digits]) => chipid === ONE && digits === 13));
    await until(
      () => simulator.frames.some(({ chipid, text }) => chipid === THREE && /heartbeat/.test(text)),
      'there is a heartbeat',
    );
    const listener = 'f10-listen-app-unusual';
    const seen = (await red.results(listener, 'status')).length;
    simulator.fail('silence', { chipid: THREE });
    const statuses = await red.waitFor(listener, 'status', seen + 1);
    assert.equal(statuses[seen]?.status?.text, 'status.disconnected');
    simulator.heal();
  });

  it('uses the proxy and the certificate that an application names', () => {
    // Both calls were among the commands above.
    assert.deepEqual([...new Set(proxy.targets)], [new URL(simulator.baseUrl).host]);
  });

  it('has logged no errors except the expected ones', () => {
    const lines = red.log().match(/^.*\[error\].*$/gm) ?? [];
    const unexpected = lines.filter((line) => !/listen-json|refresh-app-unusual/.test(line));
    assert.deepEqual(unexpected, []);
  });
});
