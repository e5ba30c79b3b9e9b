import assert from 'node:assert/strict';
import { attemptFailure } from '../../../src/http/adaptive-rate';
import type { Channel } from '../../../src/channel/channel';
import { channelService } from '../../../tooling/servers/channel-service';
import { wireService } from '../../../tooling/servers/wire-service';
import { until } from '../../../tooling/until';
import { bareChannel } from '../support/bare-channel';

/** Opens a channel. @returns it, and what it reports of its attempts to its limiter */
function open(baseUrl: string): { channel: Channel; reports: string[] } {
  const reports: string[] = [];
  const channel = bareChannel(baseUrl, {
    limiter: {
      acquire(turn) {
        setImmediate(turn);
        return {
          succeeded: () => reports.push('opened'),
          failed: (reason, retryAfter) => reports.push(`${reason} ${retryAfter}`),
          cancel: () => reports.push('cancelled'),
        };
      },
      ended: () => reports.push('ended'),
    },
    random: () => 0,
  });
  return { channel, reports };
}

describe('what a channel reports of its attempts to the limiter', () => {
  it('is that it opened, and that the connection ended', async () => {
    const service = await channelService((channel, count) => {
      if (count < 2) channel.terminate();
    });
    const { channel, reports } = open(service.baseUrl);
    await until(() => service.opened() === 3 && channel.state === 'connected');
    channel.close();
    assert.deepEqual(reports, ['opened', 'ended', 'opened', 'ended', 'opened']);
  });

  it('is the status of a refusal, and how long the service asks to wait', async () => {
    const answers = ['503 No\r\nRetry-After: 7', '429 No\r\nRetry-After: soon', '503 No'];
    const service = await wireService((socket, count) => {
      socket.end(`HTTP/1.1 ${answers[count] ?? '403 No'}\r\nContent-Length: 0\r\n\r\n`);
    });
    const { reports } = open(service.baseUrl);
    await until(() => reports.length === 4);
    assert.deepEqual(reports, ['503 7000', '429 undefined', '503 undefined', '403 undefined']);
  });

  it('is that it was cancelled if the channel closes before', async () => {
    const service = await wireService(() => undefined);
    const { channel, reports } = open(service.baseUrl);
    await until(() => service.requests() === 1);
    channel.close();
    assert.deepEqual(reports, ['cancelled']);
  });
});

describe('a failed attempt', () => {
  const meanings = {
    refusal: ['429', '503', 'PROXY_503'],
    timeout: ['ETIMEDOUT'],
    failure: ['500', '502', '504', 'PROXY_502', 'ECONNRESET'],
    absence: ['ECONNREFUSED', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
    unrelated: [
      '200',
      '302',
      '400',
      '401',
      '403',
      '404',
      'PROXY_407',
      'CERT_HAS_EXPIRED',
      'EMFILE',
    ],
  };
  for (const [meaning, reasons] of Object.entries(meanings)) {
    it(`with ${reasons.join(', ')} counts as: ${meaning}`, () => {
      assert.deepEqual([...new Set(reasons.map(attemptFailure))], [meaning]);
    });
  }
});
