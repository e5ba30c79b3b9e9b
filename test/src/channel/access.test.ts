import assert from 'node:assert/strict';
import { ALONE, type ChannelAccess } from '../../../src/channel/ownership';
import type { PacedAttempt } from '../../../src/http/adaptive-limiters';
import { channelService } from '../../../tooling/servers/channel-service';
import { until } from '../../../tooling/until';
import { bareChannel } from '../support/bare-channel';

/** A limiter that gives each turn by hand. */
function handLimiter() {
  const turns: (() => void)[] = [];
  const attempt: PacedAttempt = {
    succeeded: () => undefined,
    failed: () => undefined,
    cancel: () => undefined,
  };
  return {
    turns,
    acquire(turn: () => void): PacedAttempt {
      turns.push(turn);
      return attempt;
    },
    ended: () => undefined,
  };
}

async function subject(access: ChannelAccess) {
  const service = await channelService();
  const given = { access };
  const limiter = handLimiter();
  const channel = bareChannel(service.baseUrl, {
    ...{ limiter, random: () => 0 },
    ownership: { ...ALONE, access: () => given.access, reason: 'CLUSTER' },
  });
  return { service, given, limiter, channel };
}

describe('a channel that may not be opened here', () => {
  it('waits without an attempt until it may be', async () => {
    const { given, limiter, channel } = await subject('hold');
    assert.deepEqual([channel.state, channel.reason], ['disconnected', 'CLUSTER']);
    channel.checkAccess();
    assert.equal(limiter.turns.length, 0);
    given.access = 'open';
    channel.checkAccess();
    channel.checkAccess();
    assert.equal(limiter.turns.length, 1);
    limiter.turns[0]?.();
    await until(() => channel.state === 'connected');
  });

  it('does not connect when its turn comes too late', async () => {
    const { service, given, limiter, channel } = await subject('open');
    given.access = 'hold';
    limiter.turns[0]?.();
    assert.deepEqual([channel.state, channel.reason], ['disconnected', 'CLUSTER']);
    given.access = 'open';
    channel.checkAccess();
    limiter.turns[1]?.();
    await until(() => channel.state === 'connected');
    assert.equal(service.opened(), 1);
  });

  it('is closed if that is found only when it opens', async () => {
    const { service, given, limiter, channel } = await subject('open');
    limiter.turns[0]?.();
    given.access = 'elsewhere';
    await until(() => channel.state === 'disconnected');
    assert.equal(channel.reason, 'CLUSTER');
    await until(() => service.opened() === 1 && service.clients.size === 0);
  });

  it('stays open while it may not be opened, and is closed when another process has the device', async () => {
    const { service, given, limiter, channel } = await subject('open');
    limiter.turns[0]?.();
    await until(() => channel.state === 'connected');
    given.access = 'hold';
    channel.checkAccess();
    assert.equal(channel.state, 'connected');
    given.access = 'elsewhere';
    channel.checkAccess();
    assert.equal(channel.state, 'disconnected');
    await until(() => service.clients.size === 0);
  });

  it('ends a handshake that is under way', async () => {
    const { given, limiter, channel } = await subject('open');
    limiter.turns[0]?.();
    given.access = 'hold';
    channel.checkAccess();
    assert.deepEqual([channel.state, channel.reason], ['disconnected', 'CLUSTER']);
    given.access = 'open';
    channel.checkAccess();
    limiter.turns[1]?.();
    await until(() => channel.state === 'connected');
  });
});
