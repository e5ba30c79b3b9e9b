import assert from 'node:assert/strict';
import { publicCloud, PUBLIC_KEY, type PublicCloud } from '../../tooling/servers/public-cloud';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { keep, startCloud, useNodeRed } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { testConnection } from '../support/test-connection';

const latest = '2016-06-23 09:15:24';
const [FIRST, SECOND] = ['8454703', '8454704'];

describe('the test of an application whose service answers as the public server of 2016', () => {
  useNodeRed();
  let cloud: PublicCloud;

  beforeEach(async () => {
    cloud = await keep(publicCloud());
    cloud.online = [FIRST, SECOND].map((chipid) => ({ chipid: Number(chipid), latest }));
  });
  const usual = () => ({
    ...{ baseUrl: cloud.baseUrl, appid: cloud.appid },
    credentials: { appkey: PUBLIC_KEY },
  });
  /** Deploys a listener, and waits for its channels. */
  async function listenTo(...chipids: string[]): Promise<void> {
    await load([cloudApp(cloud), node('listen', { chipids })], { app: { appkey: PUBLIC_KEY } });
    const isOpen = (chipid: string): boolean => cloud.channels.get(chipid)?.readyState === 1;
    await until(() => chipids.every(isOpen), 'its channels are open');
    await until(
      () => journal.statuses.some(({ status }) => status.fill === 'green'),
      'it is green',
    );
  }

  it('says so, and opens a channel to the first online device and closes it', async () => {
    await load([]);
    const { openApi, channel } = await testConnection(usual());
    assert.equal(openApi?.dialect, 'public');
    assert.deepEqual(channel, { ok: true, chipid: FIRST, open: false });
    assert.equal(cloud.opened(FIRST), 1);
    await until(() => cloud.sockets() === 0, 'nothing stays open');
  });

  it('shows the channel of a listener that is open, and opens none', async () => {
    await listenTo(SECOND);
    const { channel } = await testConnection({ id: 'app', ...usual() });
    assert.deepEqual(channel, { ok: true, chipid: SECOND, open: true });
    assert.deepEqual([cloud.opened(FIRST), cloud.opened(SECOND)], [0, 1]);
  });

  it('leaves channels alone that another application uses', async () => {
    await listenTo(FIRST);
    const { channel } = await testConnection({ id: 'new', ...usual() });
    assert.deepEqual(channel, { ok: true, chipid: SECOND, open: false });
    cloud.online.pop();
    const second = await testConnection({ id: 'new', ...usual() });
    assert.deepEqual(second.channel, { ok: null, why: 'used' });
    assert.equal(cloud.opened(FIRST), 1);
    assert.equal(cloud.channels.get(FIRST)?.readyState, 1);
  });

  it('says that no device is online', async () => {
    cloud.online = [];
    await load([]);
    assert.deepEqual((await testConnection(usual())).channel, { ok: null, why: 'offline' });
  });

  const REFUSED: [
    what: string,
    changed: (appid: string) => { appid?: string; appkey?: string; ahead?: number },
    causes: string[],
  ][] = [
    ['a blank in the key', () => ({ appkey: `${PUBLIC_KEY} ` }), ['blank', 'key']],
    ['a key with capitals', () => ({ appkey: PUBLIC_KEY.toUpperCase() }), ['capitals']],
    ['another key', () => ({ appkey: 'f'.repeat(32) }), ['key']],
    ['another key with capitals', () => ({ appkey: 'F'.repeat(32) }), ['key']],
    ['another application', () => ({ appid: '99' }), ['appid']],
    [
      'another application, and a blank in the key',
      () => ({ appid: '99', appkey: `${PUBLIC_KEY} ` }),
      ['appid'],
    ],
    ['a clock that is two hours behind', () => ({ ahead: 7_200_000 }), ['clock']],
  ];
  for (const [what, changed, causes] of REFUSED) {
    it(`names the cause of a refusal: ${what}`, async () => {
      await load([]);
      const { appid = cloud.appid, appkey = PUBLIC_KEY, ahead = 0 } = changed(cloud.appid);
      cloud.ahead = ahead;
      const { openApi, channel } = await testConnection({
        ...usual(),
        appid,
        credentials: { appkey },
      });
      assert.equal(openApi?.ok, false);
      assert.deepEqual([openApi.causes, openApi.dialect], [causes, 'public']);
      assert.equal(channel, undefined);
      if (ahead)
        assert.ok(Math.abs(openApi.clockSkew! - 7_200_000) <= 2000, String(openApi.clockSkew));
    });
  }
});

describe('the test of an application whose service answers as the document says', () => {
  useNodeRed();

  it('says so, and tries all three interfaces', async () => {
    const cloud = await startCloud();
    await load([]);
    const { baseUrl, appid } = cloud;
    const { openApi, serverApi, channel } = await testConnection({
      baseUrl,
      appid,
      credentials: CANARIES,
    });
    assert.deepEqual([openApi?.ok, serverApi?.ok, openApi?.dialect], [true, true, 'document']);
    assert.deepEqual(channel, { ok: true, chipid: '10000001', open: false });
  });

  it('opens a channel of a device whose number is in use at another service', async () => {
    const [cloud, other] = [await startCloud(), await startCloud()];
    await load([cloudApp(other), node('listen', { chipids: ['10000001'] })]);
    await until(() => other.channels('10000001') === 1, 'the other channel is open');
    const { baseUrl, appid } = cloud;
    const { channel } = await testConnection({ baseUrl, appid, credentials: CANARIES });
    assert.deepEqual(channel, { ok: true, chipid: '10000001', open: false });
  });

  for (const [what, appkey, ahead, causes] of [
    ['a key', 'other', 0, ['key', 'appid']],
    ['a blank', `${CANARIES.appkey} `, 0, ['blank', 'key', 'appid']],
    ['a key, and a clock that is a minute off', 'other', 60, ['key', 'appid', 'clock']],
    ['a clock that is hours off', 'other', 9000, ['clock', 'key', 'appid']],
  ] as const) {
    it(`names the likely causes of a refusal: ${what}`, async () => {
      const cloud = await startCloud({ now: () => Date.now() + ahead * 1000 });
      await load([]);
      const { baseUrl, appid } = cloud;
      const { openApi } = await testConnection({ baseUrl, appid, credentials: { appkey } });
      assert.deepEqual([openApi?.causes, openApi?.dialect], [causes, 'document']);
    });
  }
});
