import WebSocket from 'ws';
import type { Message } from './node-red';

/** What an open editor would show. */
export interface Editor {
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

/** Listens in on the connection that Node-RED has for its editor. @returns ends it */
export async function listenIn(url: string, onText: (text: string) => void): Promise<() => void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/comms`);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('message', (data: Buffer) => onText(data.toString('utf8')));
  for (const subscribe of ['debug', 'status/#', 'notification/#', 'event-log/#'])
    socket.send(JSON.stringify({ subscribe }));
  return () => socket.terminate();
}

export async function openEditor(url: string): Promise<Editor> {
  const shown = new Map<string, unknown[]>();
  const statuses = new Map<string, Message['status']>();
  const close = await listenIn(url, (text) => {
    const events = JSON.parse(text) as Event | Event[];
    for (const { topic = '', data } of Array.isArray(events) ? events : [events]) {
      const [kind, id] = topic.split('/');
      if (kind === 'status' && id) statuses.set(id, data);
      if (kind === 'debug' && data?.id)
        shown.set(data.id, [...(shown.get(data.id) ?? []), valueOf(data.msg, data.format)]);
    }
  });
  return { shown, statuses, close };
}
