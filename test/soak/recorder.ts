import { appendTo, shortOf } from './lines';

/** The part of a message that is recorded. */
interface Message {
  chipid: string;
  payload: unknown;
  replayed?: true;
  altered?: true;
  /** Where it is no usual upload. */
  type?: string;
}

const MEMORY_EVERY = 500;

/**
 * Runs inside Node-RED, called by a function node: writes down each message as it comes, and how much
 * memory the process takes.
 */
export function createRecorder(path: string): (message: Message) => void {
  const append = appendTo(path);
  setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    append(JSON.stringify({ rss, heap: heapUsed }));
  }, MEMORY_EVERY).unref();

  return ({ chipid, payload, replayed = false, altered, type }) => {
    // No history keeps data of the transparent serial mode, so that nobody can tell whether some is lost.
    if (type === 'uart_trans') return;
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    append(JSON.stringify({ at: Date.now(), chipid, replayed, altered, body: shortOf(body) }));
  };
}
