import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createApplication } from '../../../src/application';
import { READINGS, AdaptiveLimiters } from '../../../src/http/adaptive-limiters';
import { atEnd } from '../../../tooling/servers/at-end';
import { channelService, tlsChannelService } from '../../../tooling/servers/channel-service';
import { LOOPBACK } from '../../../tooling/servers/certs';
import { settled, until } from '../../../tooling/until';
import { KEYS } from '../support/client';

/** Connects that are a rush, and do not end while the clock is stopped. */
const MANY = 150;
const CLOCK = { now: () => 0, idle: () => 0, random: () => 0 };

/** A channel that has opened while many other connects wait for their turn. */
async function duringRush(baseUrl: string) {
  const limiters = new AdaptiveLimiters(CLOCK);
  const acquire = mock.method(limiters.of(baseUrl, READINGS), 'acquire');
  const tls = { ca: LOOPBACK.cert };
  const application = createApplication({ ...KEYS, baseUrl, proxy: false, tls }, limiters);
  atEnd(() => application.close());
  let isOpen = false;
  const onState = (state: string): void => void (isOpen = state === 'connected');
  application.open?.listening.listen('1', { onState }, {});
  const connects = limiters.of(baseUrl.replace('http', 'ws'));
  const others = Array.from({ length: MANY }, () => connects.acquire(() => undefined));
  const end = (): void => others.forEach((other) => other.cancel());
  atEnd(end);
  await until(() => isOpen);
  return { end, readings: () => acquire.mock.callCount() };
}

describe('a channel that opens during a rush of connects', () => {
  it('over TLS, has its history read after the rush', async () => {
    const { baseUrl } = await tlsChannelService(LOOPBACK);
    const { readings, end } = await duringRush(baseUrl);
    await settled();
    assert.equal(readings(), 0);
    end();
    await until(() => readings() === 1);
  });

  it('without TLS, has its history read at once', async () => {
    const { baseUrl } = await channelService();
    const { readings } = await duringRush(baseUrl);
    await until(() => readings() === 1);
  });
});
