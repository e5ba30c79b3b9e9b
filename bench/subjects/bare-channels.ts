import { chipidOf, IDENTITY } from '../identity';

/** An upload, read by the least that it takes. */
export interface BareUpload {
  topic: string;
  payload: string;
}

/** The address of a device's channel. The service of the benchmark takes any signature here. */
export const channelAddress = (baseUrl: string, chipid: string): string =>
  `${baseUrl.replace(/^http/, 'ws')}/noticed/peer?appid=${IDENTITY.appid}` +
  `&timestamp=1700000000000&chipid=${chipid}&sign=none`;

/** Opened at once at most: a rush would leave memory behind that is not the channels'. */
const AT_ONCE = 50;

/** Bare `ws`: parse, decode, deliver. @returns a function that opens channels up to a given number */
export async function bareChannels(
  baseUrl: string,
  onUpload: (upload: BareUpload) => void,
): Promise<(channels: number) => Promise<void>> {
  const { WebSocket } = await import('ws');
  let opened = 0;

  const openOne = (chipid: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(channelAddress(baseUrl, chipid), { perMessageDeflate: false });
      socket.on('error', reject);
      socket.on('open', () => resolve());
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString()) as { body: string; chipid: string };
        const payload = Buffer.from(event.body, 'base64').toString();
        onUpload({ topic: event.chipid, payload });
      });
    });

  return async (channels) => {
    while (opened < channels) {
      const some = Math.min(AT_ONCE, channels - opened);
      await Promise.all(Array.from({ length: some }, (_, i) => openOne(chipidOf(opened + i))));
      opened += some;
    }
  };
}
