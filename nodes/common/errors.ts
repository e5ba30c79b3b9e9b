import { EventEmitter } from 'node:events';
import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError } from '../../src/index';

/** Turns a thrown value into an error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/** The message of a thrown value. */
export const messageOf = (thrown: unknown): string => asError(thrown).message;

/** An error as the editor shows it. */
export const toProblem = (error: unknown): { code: string; message: string } =>
  error instanceof DeviceCloudError
    ? { code: error.code, message: error.message }
    : { code: 'ERROR', message: error instanceof Error ? error.message : 'unknown error' };

const forDevice = (chipid: string | undefined): string =>
  chipid === undefined ? '' : ` for device ${chipid}`;

/** The error of a message for which nothing was sent before the node closed. @param chipid if it is about one device */
export const closed = (chipid?: string): DeviceCloudError =>
  new DeviceCloudError(
    'UNREACHABLE',
    `Nothing was sent${forDevice(chipid)}, since the node was closed.`,
  );

/** The error for a call that a close has interrupted: its outcome is unknown. @param chipid as of {@link closed} */
export const closedMeanwhile = (chipid?: string): DeviceCloudError =>
  new DeviceCloudError(
    'CONNECTION_LOST',
    `The node was closed before the call${forDevice(chipid)} had ended.`,
  );

/** The part of the log that @types/node-red lacks. */
interface LogHandlers {
  addHandler(handler: EventEmitter): void;
  removeHandler(handler: EventEmitter): void;
}

/**
 * Ends a message with an error that is certain to be logged once. Node-RED logs an error only if there
 * is no Catch node for it; while flows stop, a Catch node that has been closed swallows it.
 */
export function endLogged(
  RED: NodeAPI,
  node: Node,
  error: Error,
  done: (error: Error) => void,
): void {
  const log = RED.log as unknown as LogHandlers;
  let lines = 0;
  // By its node, since the handler of the Debug node puts another object in the place of the error.
  const handler = new EventEmitter().on('log', ({ id, level }: { id?: string; level: number }) => {
    if (id === node.id && level === RED.log.ERROR) lines++;
  });
  log.addHandler(handler);
  try {
    done(error);
  } finally {
    log.removeHandler(handler);
  }
  if (lines === 0) node.error(error);
}
