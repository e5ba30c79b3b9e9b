import WebSocket from 'ws';
import type { Message } from './node-red';

/** What an open editor would show. */
export interface Editor {
  /** How many messages each debug node has put into the sidebar, by id. */
  debugged: ReadonlyMap<string, number>;
  /** What stands below each node, by id. */
  statuses: ReadonlyMap<string, Message['status']>;
  close: () => void;
}

interface Event {
  topic?: string;
  data?: { id?: string } & Message['status'];
}

/** Listens in on the connection that Node-RED has for its editor. */
export async function openEditor(url: string): Promise<Editor> {
  const debugged = new Map<string, number>();
  const statuses = new Map<string, Message['status']>();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/comms`);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });

  socket.on('message', (data: Buffer) => {
    const events = JSON.parse(data.toString()) as Event | Event[];
    for (const { topic = '', data: shown } of Array.isArray(events) ? events : [events]) {
      const [kind, id] = topic.split('/');
      if (kind === 'status' && id) statuses.set(id, shown);
      if (kind === 'debug' && shown?.id) debugged.set(shown.id, (debugged.get(shown.id) ?? 0) + 1);
    }
  });
  for (const subscribe of ['debug', 'status/#']) socket.send(JSON.stringify({ subscribe }));
  return { debugged, statuses, close: () => socket.terminate() };
}
