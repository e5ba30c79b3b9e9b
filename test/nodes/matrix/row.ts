import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import { journal } from '../support/journal';
import { arrivedAt, send } from '../support/messages';
import { until } from '../../tooling/until';

export type Area =
  | 'answers'
  | 'transport'
  | 'channel'
  | 'content'
  | 'history'
  | 'fleet'
  | 'request'
  | 'held'
  | 'many'
  | 'clock'
  | 'messages'
  | 'Node-RED'
  | 'callers'
  | 'editor'
  | 'simulator';

/** What came of a fault. */
export interface Outcome {
  /** What the package said: the code of the error, or the lines in the log. */
  said: string;
  /** What was seen afterwards. */
  then: string;
}

/** A fault, and what has to come of it. */
export interface Fault {
  area: Area;
  fault: string;
  expect: Outcome;
}

/** A fault, and how it is tried. */
export interface Row extends Fault {
  /** Provokes the fault, checks that the next good call works. @returns what was observed */
  run: () => Promise<Outcome>;
}

/** Makes the rows of an area. A row returns its messages; `then` is shown if its run completes. */
export const rowsOf =
  (area: Area) =>
  (fault: string, said: string, then: string, run: () => Promise<string>): Row => ({
    area,
    fault,
    expect: { said, then },
    run: async () => ({ said: await run(), then }),
  });

export const CHIPID = '10000001';
export const WORKS = 'next call works';
export const ARRIVES = 'next upload arrives';
export const NOTHING = 'nothing';

const codeIn = (error: unknown): string => String((error as { code?: unknown }).code ?? error);

/** Hands over a message that has to fail. @returns the code of its error, as the table writes it */
export async function codeOf(id: string, msg: NodeMessage): Promise<string> {
  const { error } = await send(id, msg);
  assert.ok(error instanceof Error, `${id} did not fail`);
  await until(
    () => arrivedAt('caught').some(({ _msgid }) => _msgid === msg._msgid),
    'the Catch node has it',
  );
  return `\`${codeIn(error)}\``;
}

export const payloads = (): unknown[] => arrivedAt('out').map(({ payload }) => payload);

/** Waits until a payload has been emitted. */
export const emitted = (payload: unknown): Promise<void> =>
  until(() => payloads().includes(payload), `${String(payload)} is emitted`);

const WARN = 30;

/**
 * What the nodes have said so far: lines in the log, warnings or worse, and the codes of errors. The log
 * also has the error of a message whose node was closed: its code represents both.
 */
export function said(): string {
  const ends = new Set(journal.endings.map(({ error }) => error));
  const lines = journal.logs
    .filter(({ level, id, msg }) => level <= WARN && id !== undefined && !ends.has(msg))
    .map(({ msg }) => String(msg).replace(/^Device \d+: /, ''))
    // How often it was repeated depends on how quick the machine is.
    .filter((line) => !/^\d+ more of this kind within a minute/.test(line));
  const codes = journal.endings.flatMap(({ error }) => (error ? codeIn(error) : []));
  const all = [...new Set([...lines, ...codes])];
  return all.length === 0 ? NOTHING : all.map((line) => `\`${line}\``).join(', ');
}
