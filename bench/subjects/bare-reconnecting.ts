import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AllServiceLimits } from '../../src/http/service-limiter';
import { chipidOf } from '../identity';
import { channelAddress } from './bare-channels';
import { fail } from './node-red';

/** Milliseconds within which a channel that has ended asks to connect again, at random. */
const JITTER = 1000;

/**
 * Bare `ws` behind the limiter of the package: channels that reconnect, and nothing else.
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
  const limits = load('./dist/src/http/service-limiter.js') as {
    AllServiceLimits: typeof AllServiceLimits;
  };
  const { handshakes } = new limits.AllServiceLimits().of(baseUrl);

  const connect = (chipid: string): void => {
    const place = handshakes.acquire(() => {
      const socket = new WebSocket(channelAddress(baseUrl, chipid), { perMessageDeflate: false });
      socket.on('error', (error) => fail(`A bare channel failed: ${error.message}`));
      socket.on('open', () => {
        place.release();
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
