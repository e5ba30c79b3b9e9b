import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { indexOf } from '../identity';
import { LONG_HISTORY, recordsUpTo, YEAR } from './readings';

const HISTORY_PATH = /^\/openapi\/up_messages\/dev\/(\d+)\//;

/** Records in one piece of a long history: some 70 KB, made while it is sent. */
const PIECE = 500;

/**
 * Serves histories as a service may that has no pages: whole, with any signature. Each device has a year of it, newest
 * first; the one at `LONG_HISTORY.device` a longer one, oldest first, of unknown length.
 */
export class HistoryServer {
  readonly server: Server;
  #year: Buffer | undefined;

  constructor() {
    const answer: RequestListener = ({ url = '' }, response) => {
      const device = indexOf(HISTORY_PATH.exec(url)?.[1] ?? '');
      if (device === LONG_HISTORY.device) sendLong(response);
      else response.end((this.#year ??= yearOf()));
    };
    this.server = createServer(answer);
  }
}

/** The history of a year. All devices have the same, since to make each would take longer than to read it. */
function yearOf(): Buffer {
  const records = recordsUpTo(YEAR, YEAR).reverse();
  return Buffer.from(`[${records.join(',')}]`);
}

/** Sends as much as is taken, so that the service needs little memory as well. */
function sendLong(response: ServerResponse): void {
  let last = 0;
  const pour = (): void => {
    while (last < LONG_HISTORY.records) {
      const before = last === 0 ? '[' : ',';
      last += PIECE;
      if (!response.write(before + recordsUpTo(last, PIECE).join(','))) return;
    }
    response.end(']');
  };
  response.on('drain', pour);
  pour();
}
