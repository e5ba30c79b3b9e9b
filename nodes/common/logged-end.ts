import { EventEmitter } from 'node:events';
import type { Node, NodeAPI } from 'node-red';

/** What @types/node-red leaves out of the log. */
interface LogHandlers {
  addHandler(handler: EventEmitter): void;
  removeHandler(handler: EventEmitter): void;
}

/**
 * Ends a message with an error that certainly stands in the log, once. Node-RED logs an error only if there
 * is no Catch node for it; while flows stop, a Catch node that has been closed swallows it.
 */
export function endLogged(
  RED: NodeAPI,
  node: Node,
  error: Error,
  done: (error: Error) => void,
): void {
  const log = RED.log as unknown as LogHandlers;
  const lines: unknown[] = [];
  const handler = new EventEmitter().on('log', ({ id, msg }: { id?: string; msg?: unknown }) => {
    if (id === node.id) lines.push(msg);
  });
  log.addHandler(handler);
  try {
    done(error);
  } finally {
    log.removeHandler(handler);
  }
  if (!lines.includes(error)) node.error(error);
}
