import assert from 'node:assert/strict';
import { USER_AGENT } from '../../../src/protocol/signing';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf, KEYS } from '../support/client';
import { CHIPID, listen } from '../support/listener';
import { signByHand } from '../../tooling/sign-by-hand';

const now = (): number => 1_700_000_000_123;

describe("the channel's address (section 4.3)", () => {
  for (const [timestampUnit, timestamp] of [
    ['ms', '1700000000123'],
    ['s', '1700000000'],
  ] as const) {
    it(`is signed with a timestamp in ${timestampUnit}, and has no final /`, async () => {
      const service = await channelService();
      const client = clientOf(service.baseUrl, { now, timestampUnit });
      await listen(client).state('connected');
      const [path, search] = service.urls[0]!.split('?');
      assert.equal(path, '/noticed/peer');
      const params = { appid: KEYS.appid, timestamp, chipid: CHIPID };
      const sign = signByHand('get', params, KEYS.appkey);
      assert.deepEqual(Object.fromEntries(new URLSearchParams(search)), { ...params, sign });
    });
  }

  it('comes with the User-Agent, and asks for no compression', async () => {
    const service = await channelService();
    await listen(clientOf(service.baseUrl)).state('connected');
    const headers = service.headers[0]!;
    assert.equal(headers['user-agent'], USER_AGENT);
    assert.equal(headers['sec-websocket-extensions'], undefined);
  });

  it('has a fresh signature at each attempt', async () => {
    let seconds = 1_700_000_000;
    const service = await channelService((channel) => channel.close(1001));
    const client = clientOf(service.baseUrl, { now: () => 1000 * seconds++ });
    await listen(client).state('connected', 3);
    const sent = service.urls.slice(0, 3).map((url) => {
      const { timestamp, sign } = Object.fromEntries(new URLSearchParams(url.split('?')[1]));
      return { timestamp, sign };
    });
    const expected = ['1700000000000', '1700000001000', '1700000002000'].map((timestamp) => {
      const params = { appid: KEYS.appid, timestamp, chipid: CHIPID };
      return { timestamp, sign: signByHand('get', params, KEYS.appkey) };
    });
    assert.deepEqual(sent, expected);
  });
});
