import { createSecureContext } from 'node:tls';
import WebSocket, { type ClientOptions } from 'ws';
import { chipidOf, IDENTITY } from '../identity';
import { channelAddress } from '../service/address';

/** An upload as a program that does nothing else reads it. */
export interface BareUpload {
  topic: string;
  payload: string;
}

/** Opened at once at most: a rush would leave memory behind that is not the channels'. */
const AT_ONCE = 50;

function openOne(
  address: string,
  options: ClientOptions,
  onUpload: (upload: BareUpload) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, options);
    socket.on('error', reject);
    socket.on('open', () => resolve());
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as { body: string; chipid: string };
      const payload = Buffer.from(event.body, 'base64').toString();
      onUpload({ topic: event.chipid, payload });
    });
  });
}

/** Bare ws: parse, decode, hand on. One TLS context for all. @returns opens more, until there are so many */
export function bareChannels(
  baseUrl: string,
  onUpload: (upload: BareUpload) => void,
): (channels: number) => Promise<void> {
  const secure = baseUrl.startsWith('https') ? { secureContext: createSecureContext() } : {};
  const options = { perMessageDeflate: false, ...secure };
  let opened = 0;

  return async (channels) => {
    while (opened < channels) {
      const some = Math.min(AT_ONCE, channels - opened);
      const addresses = Array.from({ length: some }, (_, index) =>
        channelAddress(baseUrl, IDENTITY.appid, chipidOf(opened + index)),
      );
      await Promise.all(addresses.map((address) => openOne(address, options, onUpload)));
      opened += some;
    }
  };
}
