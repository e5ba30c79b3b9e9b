import { createHash } from 'node:crypto';
import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';

/** A file that lines are added to at once, so that none is lost when the writer is killed. */
export function appendTo(path: string): (line: string) => void {
  const file = openSync(path, 'a');
  return (line) => void writeSync(file, `${line}\n`);
}

/** The whole lines of a file; none if there is no file. */
export function readLines(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
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

/** What a process said of itself. */
export interface Usage {
  rss: number;
  heap: number;
}

const parse = <T>(lines: string[]): T[] => lines.map((line) => JSON.parse(line) as T);

export const readAccepted = (path: string): Accepted[] => parse<Accepted>(readLines(path));

/** What a recorder has written: messages, and now and then how much memory Node-RED takes. */
export function readRecords(path: string): { emitted: Emitted[]; usage: Usage[] } {
  const lines = parse<Emitted | Usage>(readLines(path));
  return {
    emitted: lines.filter((line): line is Emitted => 'chipid' in line),
    usage: lines.filter((line): line is Usage => 'rss' in line),
  };
}
