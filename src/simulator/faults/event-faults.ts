import type { Channel, UploadEvent } from '../transport/open-channel';

/** Sends something else in place of an event, or nothing. */
export type EventFault = (channel: Channel, event: UploadEvent) => void;

const json =
  (distort: (event: UploadEvent) => unknown): EventFault =>
  ({ socket }, event) =>
    socket.send(JSON.stringify(distort(event)));

/** Writes a frame past ws, which would not make one that breaks the protocol (RFC 6455, 5.2). */
const frame =
  (...bytes: number[]): EventFault =>
  ({ wire }) =>
    void wire.write(Buffer.from(bytes));

const FIN_TEXT = 0x81;
const FIN_CLOSE = 0x88;
const RSV1 = 0x40;
const MASKED = 0x80;
/** Base64 of more than a client accepts whose limit is frames of 16 MiB. */
const BIG = 17 * 1024 * 1024;
/** Levels of nesting that a recursive clone or comparison does not survive. */
const DEEP = 2500;
/** Tiny frames in a burst. */
const NOISE = 500;

/** Faults of the events on a channel, by name. */
export const EVENT_FAULTS = {
  'bad-json': ({ socket }) => socket.send('{"type":"data_upload",'),
  'not-an-object': ({ socket }) => socket.send('["data_upload"]'),
  'bad-base64': json((event) => ({ ...event, body: '~~not base64~~' })),
  'other-chipid': json((event) => ({ ...event, chipid: `${event.chipid}9` })),
  'missing-fields': json(({ type }) => ({ type })),
  'unknown-type': json((event) => ({ ...event, type: 'unknown_type' })),
  binary: ({ socket }, event) => socket.send(Buffer.from(JSON.stringify(event))),
  deep: ({ socket }, { type }) =>
    socket.send(`{"type":"${type}","body":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`),
  noise({ socket }, event) {
    for (let count = 0; count < NOISE; count++) socket.send('abc');
    socket.send(JSON.stringify(event));
  },
  'no-timestamp': json((event) => ({ ...event, timestamp: undefined })),
  'odd-timestamp': json((event) => ({ ...event, timestamp: '1700000000.5' })),
  'big-frame': json((event) => ({ ...event, body: 'A'.repeat(BIG) })),
  'bad-utf8': frame(FIN_TEXT, 2, 0xc3, 0x28),
  'masked-frame': frame(FIN_TEXT, MASKED | 2, 0, 0, 0, 0, 0x7b, 0x7d),
  'rsv-frame': frame(FIN_TEXT | RSV1, 2, 0x7b, 0x7d),
  'bad-close-code': frame(FIN_CLOSE, 2, 0, 5),
  silence: () => undefined,
} satisfies Record<string, EventFault>;
