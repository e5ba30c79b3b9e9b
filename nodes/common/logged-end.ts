import { EventEmitter } from 'node:events';
import type { Node, NodeAPI } from 'node-red';

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
