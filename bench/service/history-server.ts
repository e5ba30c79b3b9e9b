import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { indexOf } from '../identity';
import { LONG_HISTORY, MISSED, newestOf, recordsUpTo, YEAR } from './readings';

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
  /** Records of a device that came after the year. */
  #later = 0;

  constructor() {
    const answer: RequestListener = ({ url = '' }, response) => {
      const device = indexOf(HISTORY_PATH.exec(url)?.[1] ?? '');
      if (device === LONG_HISTORY.device) sendLong(response);
      else this.#sendYear(response);
    };
    this.server = createServer(answer);
  }

  /** Each device has uploaded more. */
  grow(): void {
    this.#later += MISSED;
  }

  #sendYear(response: ServerResponse): void {
    const year = (this.#year ??= yearOf());
    const later = newestOf(YEAR + this.#later, this.#later);
    response.write(`[${later.map((record) => `${record},`).join('')}`);
    response.end(year);
  }
}

/** The history of a year, without the bracket before it. All devices have the same, since to make each would take longer than to read it. */
function yearOf(): Buffer {
  const records = newestOf(YEAR, YEAR);
  return Buffer.from(`${records.join(',')}]`);
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
