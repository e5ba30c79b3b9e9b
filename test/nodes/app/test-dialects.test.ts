import assert from 'node:assert/strict';
import type { Simulator } from '../../../src/simulator';
import { inEachDialect, isPublic } from '../../tooling/dialect';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { startCloud, useNodeRed } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { testConnection } from '../support/routes';

const [FIRST, SECOND] = ['10000001', '10000002'];
const { appkey } = CANARIES;
const HOUR = 3_600_000;

inEachDialect('the test of an application', () => {
  useNodeRed();
  let cloud: Simulator;
  const usual = () => ({ baseUrl: cloud.baseUrl, appid: cloud.appid, credentials: CANARIES });
  const opened = (chipid: string): number =>
    cloud.requests.filter(({ query, status }) => status === 101 && query.includes(chipid)).length;

  beforeEach(async () => {
    cloud = await startCloud({ devices: 2 });
  });
  async function listenTo(chipid: string, service = cloud): Promise<void> {
    await load([cloudApp(service), node('listen', { chipids: [chipid] })]);
    await until(() => service.channels(chipid) === 1, 'its channel is open');
  }

  it('says as what the service answers, and opens a channel to the first online device and closes it', async () => {
    await load([]);
    const { openApi, serverApi, channel } = await testConnection(usual());
    assert.deepEqual([openApi?.ok, serverApi?.ok], [true, true]);
    assert.equal(openApi?.dialect, isPublic() ? 'public' : 'document');
    assert.deepEqual(channel, { ok: true, chipid: FIRST, open: false });
    assert.equal(opened(FIRST), 1);
    await until(() => cloud.sockets() === 0, 'nothing stays open');
  });

  it('shows the channel of a listener that is open, and opens none', async () => {
    await listenTo(SECOND);
    const { channel } = await testConnection({ id: 'app', ...usual() });
    assert.deepEqual(channel, { ok: true, chipid: SECOND, open: true });
    assert.deepEqual([opened(FIRST), opened(SECOND)], [0, 1]);
  });

  it('leaves channels alone that another application uses', async () => {
    await listenTo(FIRST);
    const { channel } = await testConnection({ id: 'new', ...usual() });
    assert.deepEqual(channel, { ok: true, chipid: SECOND, open: false });
    cloud.switchOff(SECOND);
    const second = await testConnection({ id: 'new', ...usual() });
    assert.deepEqual(second.channel, { ok: null, why: 'used' });
    assert.equal(opened(FIRST), 1);
  });

  it('opens a channel of a device whose number is in use at another service', async () => {
    await listenTo(FIRST, await startCloud());
    const { channel } = await testConnection(usual());
    assert.deepEqual(channel, { ok: true, chipid: FIRST, open: false });
  });

  it('says that no device is online', async () => {
    for (const chipid of [FIRST, SECOND]) cloud.switchOff(chipid);
    await load([]);
    assert.deepEqual((await testConnection(usual())).channel, { ok: null, why: 'offline' });
  });

  interface Typed {
    appid?: string;
    appkey?: string;
    ahead?: number;
  }
  /** What is typed, and the causes, the likeliest first: on the public server, whose words tell them apart, and otherwise. */
  const REFUSED: Record<string, [typed: Typed, onPublic: string[], otherwise: string[]]> = {
    'a blank in the key': [{ appkey: `${appkey} ` }, ['blank', 'key'], ['blank', 'key', 'appid']],
    'a key with capitals': [{ appkey: appkey.toUpperCase() }, ['capitals'], ['capitals']],
    'another key': [{ appkey: 'f'.repeat(32) }, ['key'], ['key', 'appid']],
    'another application': [{ appid: '99' }, ['appid'], ['appid']],
    'another application, and a blank in the key': [
      { appid: '99', appkey: `${appkey} ` },
      ['appid'],
      ['appid'],
    ],
    'another key, and a clock that is a minute off': [
      { appkey: 'other', ahead: 60_000 },
      ['key'],
      ['key', 'appid', 'clock'],
    ],
    'another key, and a clock that is hours off': [
      { appkey: 'other', ahead: 2.5 * HOUR },
      ['clock'],
      ['clock', 'key', 'appid'],
    ],
  };
  for (const [what, [{ ahead = 0, ...typed }, ...causes]] of Object.entries(REFUSED))
    it(`names the likely cause of a refusal: ${what}`, async () => {
      cloud = await startCloud({ now: () => Date.now() + ahead });
      await load([]);
      const credentials = { appkey: typed.appkey ?? appkey };
      const appid = typed.appid ?? cloud.appid;
      const answer = await testConnection({ baseUrl: cloud.baseUrl, appid, credentials });
      assert.deepEqual([answer.openApi?.ok, answer.channel], [false, undefined]);
      assert.deepEqual(answer.openApi?.causes, causes[isPublic() ? 0 : 1]);
      const { clockSkew = NaN } = answer.openApi;
      assert.ok(Math.abs(clockSkew - ahead) <= 2000, String(clockSkew));
    });
});
