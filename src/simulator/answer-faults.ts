import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { PUBLIC_TEXTS } from './assumptions';
import { sendAnswer, type Answer } from './http';

export interface Exchange {
  readonly response: ServerResponse;
  /** The connection below the response. */
  readonly wire: Socket;
  readonly now: () => number;
  /** Carries the request out and gives its real answer. */
  readonly carryOut: () => Promise<Answer>;
}

/** Answers a request wrongly, or not at all. */
export type AnswerFault = (exchange: Exchange) => void | Promise<void>;

const status =
  (code: number, body: unknown, headers: Record<string, string> = {}): AnswerFault =>
  ({ response, now }) =>
    sendAnswer(response, { status: code, body, headers }, now());

const raw =
  (code: number, type: string, text: string): AnswerFault =>
  ({ response }) => {
    response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
    response.end(text);
  };

const JSON_TYPE = 'application/json; charset=utf-8';
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

function gzip({ response }: Exchange): void {
  const plain = Buffer.alloc(HUGE, ' ');
  plain.write('[');
  plain.write(']', HUGE - 1);
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' });
  response.end(gzipSync(plain));
}

function huge({ response }: Exchange): void {
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': HUGE });
  const piece = Buffer.alloc(HUGE / 70, ' ');
  let left = HUGE - 2;
  const pour = (): void => {
    while (left > 0) {
      const part = piece.subarray(0, left);
      left -= part.length;
      if (!response.write(part)) return;
    }
    response.off('drain', pour).end(']');
  };
  response.write('[');
  response.on('drain', pour);
  pour();
}

/** Answers as it should, and then breaks the kept-alive connection off without a word. */
async function dropAfterAnswer({ response, wire, now, carryOut }: Exchange): Promise<void> {
  const answer = await carryOut();
  response.once('finish', () => setTimeout(() => wire.destroy(), 1));
  sendAnswer(response, answer, now());
}

/** Faults of answers over HTTP, by name. */
export const ANSWER_FAULTS = {
  'bad-request': status(400, { msg: 'illegal request' }),
  unauthorized: status(401, { msg: 'sign is wrong' }),
  forbidden: status(403, { msg: 'forbidden' }),
  'not-found': status(404, { msg: 'there is no such device' }),
  redirect: status(302, { msg: 'found' }, { location: '/elsewhere/' }),
  'too-many': status(429, { msg: 'too many requests' }, { 'retry-after': '1' }),
  'server-error': status(500, { msg: 'internal error' }),
  'server-error-bare': raw(500, JSON_TYPE, ''),
  gateway: status(502, { msg: 'the gateway failed' }),
  unavailable: status(503, { msg: 'out of service' }),
  'gateway-timeout': status(504, { msg: 'the gateway did not answer' }),
  'odd-status': status(299, { msg: 'OK' }),
  empty: raw(200, JSON_TYPE, ''),
  html: raw(200, 'text/html', '<!doctype html><title>Login</title><p>Please log in.'),
  // As the public server of 2016 answers for the list of devices if its gateway does not answer.
  'no-gateway': status(200, { msg: PUBLIC_TEXTS.noGateway }),
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
  gzip,
  huge,
} satisfies Record<string, AnswerFault>;
