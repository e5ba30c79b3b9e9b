import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ANSWER_FAULTS, type AnswerFault } from './answer-faults';
import { integerText, numberIn, OptionError } from './device-options';

/** What the simulator uses of a WebSocket of ws: users of this package need not install its types. */
export interface ChannelSocket {
  /** Bytes that wait for the other side to read. */
  readonly bufferedAmount: number;
  send(data: string | Buffer): void;
  close(code?: number): void;
  terminate(): void;
}

/** One open WebSocket (section 4.3). A device may have several. */
export interface Channel {
  readonly chipid: string;
  readonly socket: ChannelSocket;
  /** The connection below it. */
  readonly wire: Duplex;
}

/** The event of an upload, `data_upload` (section 6) or `uart_trans`. Every field is a string. */
export interface UploadEvent {
  readonly type: string;
  readonly appid: string;
  readonly chipid: string;
  readonly timestamp: string;
  /** Base64 */
  readonly body: string;
}

/** Sends something else in place of an event, or nothing. */
export type EventFault = (channel: Channel, event: UploadEvent) => void;

const json =
  (distort: (event: UploadEvent) => unknown): EventFault =>
  ({ socket }, event) =>
    socket.send(JSON.stringify(distort(event)));

/** Writes a frame past ws, which makes no frame that breaks the protocol (RFC 6455, 5.2). */
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

/** Answers the upgrade to a channel wrongly, or not at all. @returns the status, 0 without an answer */
export type UpgradeFault = (wire: Duplex) => number;

/** Refuses an upgrade with a status and a `msg`, and ends the connection. */
export function refuseUpgrade(wire: Duplex, status: number, msg: string): number {
  // Server sockets are half-open by default: without this one would wait for the client's end.
  wire.once('finish', () => wire.destroy());
  const body = JSON.stringify({ msg });
  wire.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n` +
      'Connection: close\r\nContent-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return status;
}

/** Faults of the upgrade, by name. */
export const UPGRADE_FAULTS = {
  'refuse-upgrade': (wire) => refuseUpgrade(wire, 401, 'sign is wrong'),
  'answer-upgrade': (wire) => refuseUpgrade(wire, 200, 'OK'),
  'gateway-upgrade': (wire) => refuseUpgrade(wire, 502, 'the gateway failed'),
  'hang-upgrade': (wire) => {
    // Read on, or the client's leave would never be noticed.
    wire.resume().once('end', () => wire.destroy());
    return 0;
  },
  'reset-upgrade': (wire) => {
    wire.destroy();
    return 0;
  },
} satisfies Record<string, UpgradeFault>;

/** The name of something that can go wrong. */
export type FaultName =
  | keyof typeof ANSWER_FAULTS
  | keyof typeof UPGRADE_FAULTS
  | keyof typeof EVENT_FAULTS;

/** What a fault applies to. */
export interface FaultOptions {
  /** How many requests, upgrades or events, a whole number; default: all until it is removed. */
  times?: number;
  /** Only requests, upgrades and events of this device. */
  chipid?: string | number;
  /** Only requests whose path contains this, for example `dev/push`. */
  path?: string;
  /** Whether the request is carried out before the answer goes wrong. Default false. */
  acts?: boolean;
}

interface Standing {
  readonly name: FaultName;
  readonly chipid: string | undefined;
  readonly path: string;
  readonly acts: boolean;
  left: number;
}

/** What a request is about, to match it against a fault's options. */
export interface Aim {
  readonly path: string;
  /** Whether it concerns a device. */
  readonly concerns: (chipid: string) => boolean;
}

/** Every request checks all of them. */
const MAX_FAULTS = 1000;

const has = <T extends object>(table: T, name: PropertyKey): name is keyof T =>
  Object.hasOwn(table, name);

/** Every fault there is. */
export const FAULT_NAMES = [ANSWER_FAULTS, UPGRADE_FAULTS, EVENT_FAULTS].flatMap((table) =>
  Object.keys(table),
) as FaultName[];

/** The active faults. The fault that was added first applies first. */
export class Faults {
  readonly #standing = new Set<Standing>();

  /** @returns a function that removes it @throws RangeError, OptionError */
  add(name: FaultName, options: FaultOptions): () => void {
    const { times = Infinity, chipid, path = '', acts = false } = options;
    if (!FAULT_NAMES.includes(name)) {
      throw new RangeError(`There is no fault ${name}. There are ${FAULT_NAMES.join(', ')}.`);
    }
    if (this.#standing.size === MAX_FAULTS) {
      throw new OptionError('faults', `must be at most ${MAX_FAULTS} at once: lift some`);
    }
    const left = times === Infinity ? times : numberIn('times', times, 0, 1e9, 'whole');
    const device = chipid === undefined ? undefined : integerText('chipid', chipid);
    const fault: Standing = { name, chipid: device, path, acts, left };
    if (left > 0) this.#standing.add(fault);
    return () => void this.#standing.delete(fault);
  }

  claimAnswer(aim: Aim): { run: AnswerFault; acts: boolean } | undefined {
    return this.#claim(ANSWER_FAULTS, aim);
  }

  claimUpgrade(aim: Aim): UpgradeFault | undefined {
    return this.#claim(UPGRADE_FAULTS, aim)?.run;
  }

  claimEvent(chipid: string): EventFault | undefined {
    return this.#claim(EVENT_FAULTS, { path: '', concerns: (other) => other === chipid })?.run;
  }

  /** Whether a device's channels send neither events nor pongs. */
  areSilent(chipid: string): boolean {
    return [...this.#standing].some(
      (fault) =>
        fault.name === 'silence' && (fault.chipid === undefined || fault.chipid === chipid),
    );
  }

  clear(): void {
    this.#standing.clear();
  }

  #claim<T extends object>(table: T, aim: Aim): { run: T[keyof T]; acts: boolean } | undefined {
    for (const fault of this.#standing) {
      const { name, chipid, path, acts } = fault;
      if (!has(table, name) || !aim.path.includes(path)) continue;
      if (chipid !== undefined && !aim.concerns(chipid)) continue;
      if (--fault.left <= 0) this.#standing.delete(fault);
      return { run: table[name], acts };
    }
    return undefined;
  }
}
