import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import WebSocket from 'ws';
import type { NodeRed } from './node-red';

/** Something that Node-RED has told somebody, or left behind. */
export interface Told {
  where: string;
  text: string;
}

/** Whoever listens in on all that a Node-RED tells. */
export interface Ear {
  /**
   * All that there is by now, of the log and of what the editor is sent what came since the last time.
   * Credentials are left out: they are in their own file and nowhere else.
   */
  told(): Promise<Told[]>;
  close(): void;
}

/** What any user of the editor may ask for. */
const ROUTES = [
  'flows',
  'flow/tab',
  'flow/global',
  'settings',
  'settings/user',
  'nodes',
  'context/global',
  'context/flow/tab',
  'diagnostics',
  'credentials/device-cloud-app/app',
];

/** The secrets' own place. */
const CREDENTIALS = /_cred\.json/;

async function files(folder: string, below = ''): Promise<Told[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(below, entry.name);
      if (entry.name === 'node_modules' || CREDENTIALS.test(entry.name)) return [];
      if (entry.isDirectory()) return files(folder, path);
      return [{ where: `the file ${path}`, text: await readFile(join(folder, path), 'utf8') }];
    }),
  );
  return found.flat();
}

/** A secret may begin before the last look and end after it. */
const OVERLAP = 1000;

/** Gives of a text that grows what has come since the last time. */
function tail(read: () => string): () => string {
  let seen = 0;
  return () => {
    const text = read();
    const fresh = text.slice(Math.max(0, seen - OVERLAP));
    seen = text.length;
    return fresh;
  };
}

/** @param further routes to ask, without the first `/` */
export async function listenIn(red: NodeRed, further: readonly string[] = []): Promise<Ear> {
  let comms = '';
  const socket = new WebSocket(`${red.url.replace('http', 'ws')}/comms`);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('message', (data: Buffer) => (comms += data.toString('utf8')));
  for (const subscribe of ['debug', 'status/#', 'notification/#', 'event-log/#']) {
    socket.send(JSON.stringify({ subscribe }));
  }

  const log = tail(() => red.log());
  const sent = tail(() => comms);
  const answer = async (route: string): Promise<Told> => {
    const headers = { accept: 'application/json', 'node-red-api-version': 'v2' };
    const response = await fetch(`${red.url}/${route}`, { headers });
    return { where: `the answer to GET /${route}`, text: await response.text() };
  };
  return {
    async told() {
      return [
        { where: 'the log', text: log() },
        { where: 'what the open editor is sent', text: sent() },
        { where: 'the messages', text: JSON.stringify(await red.records()) },
        ...(await Promise.all([...ROUTES, ...further].map(answer))),
        ...(await files(red.userDir)),
      ];
    },
    close: () => socket.terminate(),
  };
}
