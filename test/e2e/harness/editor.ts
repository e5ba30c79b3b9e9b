import WebSocket from 'ws';
import type { Message } from './node-red';

/** What an open editor would show. */
export interface Editor {
  /** How many messages each debug node has put into the sidebar, by id. */
  debugged: ReadonlyMap<string, number>;
  /** What each debug node has shown in the sidebar, by id. */
  shown: ReadonlyMap<string, unknown[]>;
  /** The text below each node, by id. */
  statuses: ReadonlyMap<string, Message['status']>;
  close: () => void;
}

interface Event {
  topic?: string;
  data?: { id?: string; msg?: string; format?: string } & Message['status'];
}

/** What a debug node was given, out of what it tells the editor: JSON, unless it is text. */
function valueOf(msg = '', format = ''): unknown {
  if (/^(string|buffer|undefined|null)/.test(format)) return msg;
  try {
    return JSON.parse(msg) as unknown;
  } catch {
    return msg;
  }
}

/** Listens in on the connection that Node-RED has for its editor. */
export async function openEditor(url: string): Promise<Editor> {
  const debugged = new Map<string, number>();
  const shown = new Map<string, unknown[]>();
  const statuses = new Map<string, Message['status']>();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/comms`);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });

  socket.on('message', (data: Buffer) => {
    const events = JSON.parse(data.toString()) as Event | Event[];
    for (const { topic = '', data } of Array.isArray(events) ? events : [events]) {
      const [kind, id] = topic.split('/');
      if (kind === 'status' && id) statuses.set(id, data);
      if (kind === 'debug' && data?.id) {
        debugged.set(data.id, (debugged.get(data.id) ?? 0) + 1);
        shown.set(data.id, [...(shown.get(data.id) ?? []), valueOf(data.msg, data.format)]);
      }
    }
  });
  for (const subscribe of ['debug', 'status/#']) socket.send(JSON.stringify({ subscribe }));
  return { debugged, shown, statuses, close: () => socket.terminate() };
}
