import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import nodeRed from '@node-red/util';
import events from '@node-red/util/lib/events';
import type { NodeMessage, NodeStatus } from 'node-red';
import { assertNoSecret } from './secrets';

/** A `done` that a node has called, with the error if there was one. */
export interface Ending {
  node: string;
  msg: NodeMessage;
  error: unknown;
}

export interface LogLine {
  level: number;
  msg?: unknown;
  id?: string | undefined;
}

/** What happened in a test: everything that leaves a node, and where it went. */
export interface Journal {
  sent: { node: string; msg: NodeMessage }[];
  endings: Ending[];
  statuses: { id: string; status: NodeStatus }[];
  logs: LogLine[];
  /** Messages that arrived at the sinks `out`, `caught` and `completed`. */
  arrived: { sink: string; msg: NodeMessage }[];
  /** Answers of the admin routes. */
  answers: unknown[];
  /** Warnings of Node.js, such as that of too many listeners. */
  warnings: Error[];
}

const empty = (): Journal => ({
  sent: [],
  endings: [],
  statuses: [],
  logs: [],
  arrived: [],
  answers: [],
  warnings: [],
});

export let journal = empty();

const logHandler = new EventEmitter().on('log', (line: LogLine) => journal.logs.push(line));
const onWarning = (warning: Error): void => {
  if (warning.name !== 'DeprecationWarning') journal.warnings.push(warning);
};
const onStatus = ({ id, status }: { id: string; status?: NodeStatus }): void => {
  // Node-RED itself removes the status of a removed node, without a message.
  if (status) journal.statuses.push({ id, status });
};

export function startJournal(): void {
  nodeRed.log.addHandler(logHandler);
  events.on('node-status', onStatus);
  process.on('warning', onWarning);
  nodeRed.hooks.add('onComplete.journal', ({ msg, error, node }: nodeRed.CompleteEvent) => {
    if (node.node.type.startsWith('device-cloud-')) {
      journal.endings.push({ node: node.id, msg, error });
    }
  });
}

export function stopJournal(): void {
  nodeRed.log.removeHandler(logHandler);
  events.off('node-status', onStatus);
  process.off('warning', onWarning);
  nodeRed.hooks.remove('onComplete.journal');
}

/**
 * What holds of every test, once its flow has stopped: each message ended in exactly one `done`, no
 * close was given up, and no secret is anywhere. Then a new page.
 */
export function closeJournal(): void {
  const page = journal;
  journal = empty();
  for (const { node, msg } of page.sent) {
    const endings = page.endings.filter((ending) => ending.node === node && ending.msg === msg);
    assert.equal(endings.length, 1, `done of ${node} was called ${endings.length} times`);
  }
  const late = page.logs.filter(({ msg }) => /timed out|Error stopping/i.test(String(msg)));
  assert.deepEqual(late, [], 'a node did not close in time');
  assert.deepEqual(page.warnings, []);
  assertNoSecret(
    'an error',
    page.endings.map(({ error }) => error),
  );
  assertNoSecret('a status', page.statuses);
  assertNoSecret('the log', page.logs);
  assertNoSecret('a message', page.arrived);
  assertNoSecret('an answer of an admin route', page.answers);
}
