import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { AdaptiveLimiters } from '../../src/http/adaptive-limiters';
import { chipidOf } from '../identity';
import { channelAddress } from './bare-channels';
import { fail } from './node-red';

/** Milliseconds within which a channel that has ended asks to connect again, at random. */
const JITTER = 1000;

/**
 * Bare `ws` behind the connect limiter of the package: channels that reconnect, and nothing else.
 * @param onOpen is called whenever a channel is open
 * @returns a function that opens channels up to a given number
 */
export async function bareReconnecting(
  baseUrl: string,
  packageFolder: string,
  onOpen: (chipid: string) => void = () => undefined,
): Promise<(channels: number) => Promise<void>> {
  const { WebSocket } = await import('ws');
  const load = createRequire(join(packageFolder, 'package.json'));
  const limiters = load('./dist/src/http/adaptive-limiters.js') as {
    AdaptiveLimiters: typeof AdaptiveLimiters;
  };
  const limiter = new limiters.AdaptiveLimiters().of(baseUrl);
  const secure = baseUrl.startsWith('https') ? { secureContext: createSecureContext() } : {};
  const options = { perMessageDeflate: false, ...secure };

  const connect = (chipid: string): void => {
    const attempt = limiter.acquire(() => {
      const socket = new WebSocket(channelAddress(baseUrl, chipid), options);
      socket.on('error', (error) => fail(`A bare channel failed: ${error.message}`));
      socket.on('open', () => {
        attempt.succeeded();
        onOpen(chipid);
      });
      socket.on('close', () => setTimeout(() => connect(chipid), Math.random() * JITTER));
    });
  };

  let opened = 0;
  return (channels) => {
    while (opened < channels) connect(chipidOf(opened++));
    return Promise.resolve();
  };
}
