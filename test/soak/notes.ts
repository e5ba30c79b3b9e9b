import { existsSync } from 'node:fs';
import { appendTo, readLines } from './lines';

/** What is asked of the nodes: a request, or a command that waits for its device. */
export type Kind = 'request' | 'held';

/** A line about one message or one event. A life is that of a process of Node-RED. */
export type Note =
  | { what: 'asked'; kind: Kind; serial: string; life: number }
  | { what: 'ended'; kind: Kind; serial: string; life: number; code: string }
  | { what: 'event'; event: string; chipid?: string; life: number; at: number };

/** Where they are written down, and a file that is there while messages are to be made. */
export interface NoteFiles {
  notes: string;
  go: string;
}

export const readNotes = (path: string): Note[] =>
  readLines(path).map((line) => JSON.parse(line) as Note);

/** A message of the flow, as it is made, and as it comes out of a node or a Catch node. */
interface Message {
  chipid?: string;
  payload: unknown;
  kind?: Kind;
  serial?: string;
  event?: string;
  error?: { code?: string };
}

/** Milliseconds between two messages of each kind. */
const EVERY = 250;

/** Runs inside Node-RED: makes a request and a command at a time, for one device after the other. */
export function startDriver(
  files: NoteFiles,
  peers: readonly string[],
  send: (messages: [request: Message, held: Message]) => void,
): () => void {
  const append = appendTo(files.notes);
  const life = process.pid;
  let count = 0;
  const make = (kind: Kind, chipid = ''): Message => {
    const serial = `${life} ${count++}`;
    append(JSON.stringify({ what: 'asked', kind, serial, life } satisfies Note));
    return { chipid, kind, serial, payload: { get: 'rssi', id: serial } };
  };
  const timer = setInterval(() => {
    if (!existsSync(files.go)) return;
    const chipid = peers[(count / 2) % peers.length];
    send([make('request', chipid), make('held', chipid)]);
  }, EVERY);
  return () => clearInterval(timer);
}

/** Runs inside Node-RED: writes down what has become of a message, or an event. */
export function createNoter(files: NoteFiles): (message: Message) => void {
  const append = appendTo(files.notes);
  const life = process.pid;
  const note = (line: Note): void => append(JSON.stringify(line));

  return ({ event, chipid, kind, serial, payload, error }) => {
    if (event !== undefined) {
      note({ what: 'event', event, life, at: Date.now(), ...(chipid && { chipid }) });
    } else if (kind && serial !== undefined) {
      const isReply = kind === 'held' || (payload as { id?: unknown } | null)?.id === serial;
      const code = error ? (error.code ?? 'no code') : isReply ? 'ok' : ANOTHER;
      note({ what: 'ended', kind, serial, life, code });
    }
  };
}

/** How a request ended that got the reply to another one. */
export const ANOTHER = "another one's reply";
