import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { JSON_TYPE, RawBody, sendAnswer, type Answer } from './http';

/** A request that is answered wrongly, or not at all. */
export interface Exchange {
  readonly response: ServerResponse;
  /** The connection below the response. */
  readonly wire: Socket;
  /** Carries the request out and gives its real answer. */
  readonly carryOut: () => Promise<Answer>;
}

/** One open WebSocket (section 4.3). A device may have several. */
export interface Channel {
  readonly chipid: string;
  /** What the simulator uses of a WebSocket of ws: users of this package need not install its types. */
  readonly socket: {
    send(data: string | Buffer): void;
    close(code?: number): void;
    terminate(): void;
  };
  /** The connection below it. */
  readonly wire: Duplex;
}

/** The event of an upload (section 6). */
export type UploadEvent = Readonly<
  Record<'type' | 'appid' | 'chipid' | 'timestamp' | 'body', string>
>;

type AnswerFault = (exchange: Exchange) => void | Promise<void>;

const status =
  (code: number, body: unknown, headers: Record<string, string> = {}): AnswerFault =>
  ({ response }) =>
    sendAnswer(response, { status: code, body, headers });

const raw = (code: number, type: string, text: string) => status(code, new RawBody(text, type));

/** More than a client with a limit of 64 MiB accepts. */
const HUGE = 70 * 1024 * 1024;
const DRIP = 100;

/** Writes the start of an answer that announces more than it contains. */
function startBody({ response }: Exchange, then: () => void): void {
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': 1000 });
  response.write('{"msg":"OK","rest":"', then);
}

/** Writes a piece at a time until the client has had enough. */
function drip(response: ServerResponse, write: () => void): void {
  const timer = setInterval(write, DRIP);
  response.once('close', () => clearInterval(timer));
}

function slowHeaders({ response, wire }: Exchange): void {
  wire.write('HTTP/1.1 200 OK\r\nx-slow: ');
  drip(response, () => wire.write('.'));
}

function trickle({ response }: Exchange): void {
  response.writeHead(200, { 'content-type': JSON_TYPE });
  response.write('[');
  drip(response, () => response.write(' '));
}

/** A JSON array of that length, mostly spaces. */
function huge(): Buffer {
  const plain = Buffer.alloc(HUGE, ' ');
  plain.write('[');
  plain.write(']', HUGE - 1);
  return plain;
}

/** Answers as it should, and then breaks the kept-alive connection off without a word. */
async function dropAfterAnswer({ response, wire, carryOut }: Exchange): Promise<void> {
  const answer = await carryOut();
  response.once('finish', () => setTimeout(() => wire.destroy(), 1));
  sendAnswer(response, answer);
}

/** Refuses an upgrade with a status and a `msg`, and ends the connection. @returns the status */
export function refuseUpgrade(wire: Duplex, code: number, msg: string): number {
  // Server sockets are half-open by default: without this one would wait for the client's end.
  wire.once('finish', () => wire.destroy());
  const body = JSON.stringify({ msg });
  wire.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\n` +
      `Connection: close\r\nContent-Type: ${JSON_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return code;
}

type EventFault = (channel: Channel, event: UploadEvent) => void;

const json =
  (distort: (event: UploadEvent) => unknown): EventFault =>
  ({ socket }, event) =>
    socket.send(JSON.stringify(distort(event)));

/**
 * Writes a frame past ws, which makes no frame that breaks the protocol (RFC 6455, 5.2). Its first byte is 0x81 for text,
 * 0x88 for a close, and 0x40 more with RSV1; 0x80 in the second says that it is masked.
 */
const frame =
  (...bytes: number[]): EventFault =>
  ({ wire }) =>
    void wire.write(Buffer.from(bytes));

/** Base64 of more than a client accepts whose limit is frames of 16 MiB. */
const BIG = 17 * 1024 * 1024;
/** Levels of nesting that a recursive clone or comparison does not survive. */
const DEEP = 2500;

/** All that can go wrong, by what is wrong, and by name. */
export const FAULTS = {
  /** Answers a request over HTTP wrongly, or not at all. */
  answer: {
    'bad-request': status(400, { msg: 'illegal request' }),
    unauthorized: status(401, { msg: 'sign is wrong' }),
    forbidden: status(403, { msg: 'forbidden' }),
    'not-found': status(404, { msg: 'there is no such device' }),
    redirect: status(302, { msg: 'found' }, { location: '/elsewhere/' }),
    'too-many': status(429, { msg: 'too many requests' }, { 'retry-after': '1' }),
    'server-error': status(500, { msg: 'internal error' }),
    'server-error-bare': raw(500, JSON_TYPE, ''),
    gateway: status(502, { msg: 'the gateway failed' }),
    'gateway-timeout': status(504, { msg: 'the gateway did not answer' }),
    'odd-status': status(299, { msg: 'OK' }),
    empty: raw(200, JSON_TYPE, ''),
    html: raw(200, 'text/html', '<!doctype html><title>Login</title><p>Please log in.'),
    // As the public server of 2016 answers for the list of devices if its gateway does not answer.
    'no-gateway': status(200, { msg: '网关没有应答（模拟器）' }),
    null: status(200, null),
    array: status(200, ['OK']),
    object: status(200, { msg: 'OK' }),
    'broken-json': raw(200, JSON_TYPE, '[{"msg":"OK"'),
    truncated: (exchange) => startBody(exchange, () => exchange.wire.end()),
    'reset-in-body': (exchange) => startBody(exchange, () => exchange.wire.resetAndDestroy()),
    reset: ({ wire }) => void wire.resetAndDestroy(),
    'drop-after-answer': dropAfterAnswer,
    hang: () => undefined,
    'slow-headers': slowHeaders,
    trickle,
    huge: (exchange) => status(200, new RawBody(huge(), JSON_TYPE))(exchange),
    gzip: (exchange) => {
      const body = new RawBody(gzipSync(huge()), JSON_TYPE);
      return status(200, body, { 'content-encoding': 'gzip' })(exchange);
    },
  } satisfies Record<string, AnswerFault>,

  /** Answers the upgrade to a channel wrongly, or not at all. Returns the status, 0 without an answer. */
  upgrade: {
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
  } satisfies Record<string, (wire: Duplex) => number>,

  /** Sends something else in place of an event, or nothing. */
  event: {
    'bad-json': ({ socket }) => socket.send('{"type":"data_upload",'),
    'not-an-object': ({ socket }) => socket.send('["data_upload"]'),
    'bad-base64': json((event) => ({ ...event, body: '~~not base64~~' })),
    'other-chipid': json((event) => ({ ...event, chipid: `${event.chipid}9` })),
    'missing-fields': json(({ type }) => ({ type })),
    'unknown-type': json((event) => ({ ...event, type: 'unknown_type' })),
    binary: ({ socket }, event) => socket.send(Buffer.from(JSON.stringify(event))),
    deep: ({ socket }, { type }) =>
      socket.send(`{"type":"${type}","body":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`),
    'big-frame': json((event) => ({ ...event, body: 'A'.repeat(BIG) })),
    'bad-utf8': frame(0x81, 2, 0xc3, 0x28),
    'masked-frame': frame(0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d),
    'rsv-frame': frame(0xc1, 2, 0x7b, 0x7d),
    'bad-close-code': frame(0x88, 2, 0, 5),
    // No pongs either.
    silence: () => undefined,
  } satisfies Record<string, EventFault>,
} as const;

/** What is wrong: an answer, an upgrade or an event. */
type Place = keyof typeof FAULTS;

/** The name of something that can go wrong. */
export type FaultName = { [At in Place]: keyof (typeof FAULTS)[At] }[Place];

/** Every fault there is. */
export const FAULT_NAMES = Object.values(FAULTS).flatMap(Object.keys) as FaultName[];

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

interface Active {
  readonly name: FaultName;
  readonly chipid: string | undefined;
  readonly path: string;
  readonly acts: boolean;
  left: number;
}

const concerns = ({ chipid }: Active, names: () => readonly string[]): boolean =>
  chipid === undefined || names().includes(chipid);

/** The active faults. The fault that was added first applies first. */
export class Faults {
  readonly #active = new Set<Active>();

  /** @returns a function that removes it @throws RangeError if there is no such fault */
  add(name: FaultName, options: FaultOptions): () => void {
    const { times: left = Infinity, chipid, path = '', acts = false } = options;
    if (!FAULT_NAMES.includes(name)) {
      throw new RangeError(`There is no fault ${name}. There are ${FAULT_NAMES.join(', ')}.`);
    }
    const of = chipid === undefined ? undefined : String(chipid);
    const fault: Active = { name, chipid: of, path, acts, left };
    if (left > 0) this.#active.add(fault);
    return () => void this.#active.delete(fault);
  }

  /**
   * Takes the fault that something is to suffer, if there is one.
   * @param names texts of which one is the chip number, if it concerns a device
   */
  claim<At extends Place>(
    place: At,
    names: () => readonly string[],
    path = '',
  ): { run: (typeof FAULTS)[At][keyof (typeof FAULTS)[At]]; acts: boolean } | undefined {
    const table = FAULTS[place];
    for (const fault of this.#active) {
      const { name, acts } = fault;
      if (!Object.hasOwn(table, name) || !path.includes(fault.path)) continue;
      if (!concerns(fault, names)) continue;
      if (--fault.left <= 0) this.#active.delete(fault);
      return { run: table[name as keyof typeof table], acts };
    }
    return undefined;
  }

  /** Whether a device's channels send neither events nor pongs. */
  areSilent(chipid: string): boolean {
    return [...this.#active].some(
      (fault) => fault.name === 'silence' && concerns(fault, () => [chipid]),
    );
  }

  clear(): void {
    this.#active.clear();
  }
}
