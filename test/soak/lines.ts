import { createHash } from 'node:crypto';
import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';

/** A file that values are added to at once, as lines of JSON, so that none is lost when the writer is killed. */
export function appendTo(path: string): (value: object) => void {
  const file = openSync(path, 'a');
  return (value) => void writeSync(file, `${JSON.stringify(value)}\n`);
}

/** The values of the whole lines of a file; none if there is no file. */
export function readLines<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as T);
}

const LONG = 10_000;

/** A body as it is written down: one of megabytes as its beginning, its length and its hash. */
export function shortOf(body: string): string {
  if (body.length <= LONG) return body;
  const hash = createHash('sha1').update(body).digest('hex');
  return `${body.slice(0, 20)}… ${body.length} ${hash}`;
}

/** An upload that the service has accepted. */
export interface Accepted {
  id: number;
  chipid: string;
  at: number;
  body: string;
  /** What the history keeps of it, if that is something else. */
  kept?: string;
}

/** A message that the listen node has emitted. */
export interface Emitted {
  at: number;
  chipid: string;
  replayed: boolean;
  /** Marked as not being what was uploaded. */
  altered?: true;
  body: string;
}

/** How much memory Node-RED took. */
export interface Usage {
  rss: number;
  heap: number;
}

/** What a recorder has written: messages, and now and then how much memory Node-RED takes. */
export function readRecords(path: string): { emitted: Emitted[]; usage: Usage[] } {
  const lines = readLines<Emitted | Usage>(path);
  return {
    emitted: lines.filter((line): line is Emitted => 'chipid' in line),
    usage: lines.filter((line): line is Usage => 'rss' in line),
  };
}
