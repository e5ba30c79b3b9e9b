import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import helper from 'node-red-node-test-helper';
import type { NodeMessage, NodeStatus } from 'node-red';
import type { ErrorCode } from '../../../src/errors';
import { journal, type Ending } from './journal';
import { until } from '../../tooling/until';

/** A message as a Catch node passes it on. */
export interface Caught extends NodeMessage {
  error: { message: string; code?: string; stack?: string; source: { id: string } };
}

/** Hands a message to a node. It may be one that no node would send. */
export function post(id: string, msg: NodeMessage): void {
  const target = helper.getNode(id);
  assert.ok(target, `there is no node ${id}`);
  msg._msgid ??= randomUUID().slice(0, 8);
  journal.sent.push({ node: id, msg });
  target.receive(msg);
}

/** Hands a message to a node and waits for its `done`. */
export async function send(id: string, msg: NodeMessage): Promise<Ending> {
  // Those of this test: the journal is another one in the next.
  const { endings } = journal;
  const find = () => endings.find((ending) => ending.node === id && ending.msg === msg);
  post(id, msg);
  await until(() => find() !== undefined, `${id} ends its message`);
  return find()!;
}

export const arrivedAt = (sink: 'out' | 'caught' | 'completed'): NodeMessage[] =>
  journal.arrived.filter((each) => each.sink === sink).map(({ msg }) => msg);

/** The payloads that the nodes have sent, in order. */
export const payloads = (): unknown[] => arrivedAt('out').map(({ payload }) => payload);

/** Waits until a payload has been emitted. */
export const emitted = (payload: unknown): Promise<void> =>
  until(() => payloads().includes(payload), `${String(payload)} is emitted`);

/** Waits until the nodes have sent a number of messages, and returns them. */
export async function arrive(count: number): Promise<NodeMessage[]> {
  await until(() => arrivedAt('out').length >= count, `${count} messages arrive`);
  return arrivedAt('out');
}

/** Waits until the Catch node has passed on a number of errors, and returns them. */
export async function caught(count: number): Promise<Caught[]> {
  await until(() => arrivedAt('caught').length >= count, `${count} errors are caught`);
  return arrivedAt('caught') as Caught[];
}

/** The lines of the log that say something. @param id of a node, whose lines alone are meant */
export const logged = (what: RegExp, id?: string): string[] =>
  journal.logs
    .filter((line) => id === undefined || line.id === id)
    .map(({ msg }) => String(msg))
    .filter((line) => what.test(line));

async function arrival(sink: 'out' | 'caught', id: string | undefined): Promise<NodeMessage> {
  const find = () => arrivedAt(sink).find(({ _msgid }) => _msgid === id);
  await until(() => find() !== undefined, `a message arrives at ${sink}`);
  return find()!;
}

/** Hands a message to a node, which has to succeed. @returns what it sent on */
export async function call(id: string, msg: NodeMessage): Promise<NodeMessage> {
  const { error } = await send(id, msg);
  assert.equal(error, undefined, String(error));
  return arrival('out', msg._msgid);
}

/** Hands a message to a node, which has to fail with a code. @returns what the Catch node passed on */
export async function fail(id: string, msg: NodeMessage, code: ErrorCode): Promise<Caught> {
  const { error } = await send(id, msg);
  assert.ok(error instanceof Error, `${id} did not fail`);
  const caught = (await arrival('caught', msg._msgid)) as Caught;
  assert.equal(caught.error.code, code, caught.error.message);
  return caught;
}

/** The statuses that a node has shown, in order. */
export const statusesOf = (id: string): NodeStatus[] =>
  journal.statuses.filter((each) => each.id === id).map(({ status }) => status);

/** Waits until a node shows a status with this text, or none if it is undefined. */
export async function shows(id: string, text: string | undefined): Promise<void> {
  const last = () => statusesOf(id).at(-1) as { text?: string } | undefined;
  await until(() => !!last() && last()?.text === text, `${id} shows ${text ?? 'nothing'}`);
}
