import assert from 'node:assert/strict';
import type { Channel } from '../../../src/channel/channel';
import { channelService } from '../../tooling/servers/channel-service';
import { wireService } from '../../tooling/servers/wire-service';
import { settled, until } from '../../tooling/until';
import { heldTimers } from '../../support/held-timers';
import { bareChannel } from '../support/bare-channel';
import { clientOf } from '../support/client';

/** Opens a channel. @returns it, and what it does with its limiter */
function open(baseUrl: string): { channel: Channel; reports: string[] } {
  const reports: string[] = [];
  const channel = bareChannel(baseUrl, {
    limiter: {
      acquire(granted) {
        setImmediate(granted);
        reports.push('acquired');
        return { release: () => reports.push('released') };
      },
      pause: (wait) => reports.push(`paused for ${wait}`),
    },
    random: () => 0,
  });
  return { channel, reports };
}

describe('the place of a channel among the handshakes of a service', () => {
  it('is taken for each attempt, and free again when the channel opens', async () => {
    const service = await channelService((channel, count) => {
      if (count === 0) channel.terminate();
    });
    const { channel, reports } = open(service.baseUrl);
    await until(() => service.opened() === 2 && channel.state === 'connected');
    assert.deepEqual(reports, ['acquired', 'released', 'acquired', 'released']);
    channel.close();
    assert.deepEqual(reports.length, 4);
  });

  it('is free when it is refused, and all wait as the service asks in a 429 or 503', async () => {
    const answers = [
      '503 No\r\nRetry-After: 7',
      '429 No\r\nRetry-After: soon',
      '429 No\r\nRetry-After: 3',
      '403 No\r\nRetry-After: 9',
    ];
    const service = await wireService((socket, count) => {
      socket.end(`HTTP/1.1 ${answers[count] ?? '403 No'}\r\nContent-Length: 0\r\n\r\n`);
    });
    const { reports } = open(service.baseUrl);
    await until(() => reports.filter((report) => report === 'released').length === 4);
    assert.deepEqual(
      reports.filter((report) => report.startsWith('paused')),
      ['paused for 7000', 'paused for 3000'],
    );
  });

  it('is free when the channel closes before', async () => {
    const service = await wireService(() => undefined);
    const { channel, reports } = open(service.baseUrl);
    await until(() => service.requests() === 1);
    channel.close();
    assert.deepEqual(reports, ['acquired', 'released']);
  });

  it('is one of 32 for all clients, and free after 5 s without an answer', async () => {
    const expire = heldTimers(5000);
    const service = await wireService(() => undefined);
    for (const client of [clientOf(service.baseUrl), clientOf(service.baseUrl)])
      for (let chipid = 0; chipid < 40; chipid++) client.listen(chipid, {});
    await until(() => service.requests() === 32);
    await settled(50);
    assert.equal(service.requests(), 32);
    expire();
    await until(() => service.requests() === 64);
    await settled(50);
    assert.equal(service.requests(), 64, 'those that are not answered are still under way');
    expire();
    await until(() => service.requests() === 80);
  });
});
