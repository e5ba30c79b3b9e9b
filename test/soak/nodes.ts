import { existsSync } from 'node:fs';
import type { Node, NodeAPI, NodeDef, NodeMessage } from 'node-red';
import { appendTo, shortOf } from './lines';
import { ANOTHER, type Kind, type Note } from './notes';

/*
 * Node types of the soak's own, which run inside Node-RED: one writes down what was emitted, one makes requests and commands,
 * and one writes down what becomes of those, and events.
 */

/** The files of a run, all in one folder. */
export interface Files {
  userDir: string;
  /** What was emitted. */
  records: string;
  /** What became of requests, commands and presence. */
  notes: string;
  /** Is there while messages are to be made. */
  go: string;
}

/** The types, as the flow names them. */
export const TYPES = { record: 'soak-record', drive: 'soak-drive', note: 'soak-note' } as const;

/** A message of the flow, as it is made, and as it comes out of a node or a Catch node. */
interface Message extends NodeMessage {
  chipid?: string;
  kind?: Kind;
  serial?: string;
  event?: string;
  error?: { code?: string };
  replayed?: true;
  altered?: true;
  /** Where it is no usual upload. */
  type?: string;
}

type Input = (message: Message) => void;

const MEMORY_EVERY = 500;

function createRecorder({ records }: Files): Input {
  const append = appendTo(records);
  setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    append({ rss, heap: heapUsed });
  }, MEMORY_EVERY).unref();

  return ({ chipid, payload, replayed = false, altered, type }) => {
    // No history keeps data of the transparent serial mode, so that nobody can tell whether some is lost.
    if (type === 'uart_trans') return;
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    append({ at: Date.now(), chipid, replayed, altered, body: shortOf(body) });
  };
}

/** Milliseconds between two messages of each kind. */
const DRIVE_EVERY = 250;

/** Makes a request and a command at a time, for one device after the other. */
function startDriver(
  { notes, go }: Files,
  peers: readonly string[],
  send: (messages: Message[]) => void,
): NodeJS.Timeout {
  const append = appendTo(notes);
  const life = process.pid;
  let count = 0;
  const make = (kind: Kind, chipid = ''): Message => {
    const serial = `${life} ${count++}`;
    append({ what: 'asked', kind, serial, life } satisfies Note);
    return { chipid, kind, serial, payload: { get: 'rssi', id: serial } };
  };
  return setInterval(() => {
    if (!existsSync(go)) return;
    const chipid = peers[(count / 2) % peers.length];
    send([make('request', chipid), make('held', chipid)]);
  }, DRIVE_EVERY);
}

function createNoter({ notes }: Files): Input {
  const append: (note: Note) => void = appendTo(notes);
  const life = process.pid;

  return ({ event, chipid, kind, serial, payload, error }) => {
    if (event !== undefined) {
      append({ what: 'event', event, life, at: Date.now(), ...(chipid && { chipid }) });
    } else if (kind && serial !== undefined) {
      const isReply = kind === 'held' || (payload as { id?: unknown } | null)?.id === serial;
      const code = error ? (error.code ?? 'no code') : isReply ? 'ok' : ANOTHER;
      append({ what: 'ended', kind, serial, life, code });
    }
  };
}

/** Registers the types, as a module that Node-RED loads. */
export function register(RED: NodeAPI, files: Files): void {
  const onInput = (createInput: (files: Files) => Input) =>
    function (this: Node, config: NodeDef) {
      RED.nodes.createNode(this, config);
      const take = createInput(files);
      this.on('input', (message, _send, done) => {
        take(message as Message);
        done();
      });
    };
  RED.nodes.registerType(TYPES.record, onInput(createRecorder));
  RED.nodes.registerType(TYPES.note, onInput(createNoter));
  RED.nodes.registerType(
    TYPES.drive,
    function (this: Node, config: NodeDef & { peers: readonly string[] }) {
      RED.nodes.createNode(this, config);
      const timer = startDriver(files, config.peers, (messages) => this.send(messages));
      this.on('close', () => clearInterval(timer));
    },
  );
}
