import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../tooling/until';
import { listenIn } from './editor';
import type { NodeRed } from './node-red';
import { request } from './request';

/** Something that Node-RED has disclosed to somebody, or left behind. */
export interface Observation {
  where: string;
  text: string;
}

/** Observes everything that a Node-RED discloses. */
export interface Observer {
  /**
   * All that there is by now; of the log and of what the editor is sent, what came since the last call.
   * Credentials are left out: they are in their own file and nowhere else.
   */
  collect(): Promise<Observation[]>;
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

/** The texts of all files below a folder, as they are listed. */
async function listed(folder: string, below = ''): Promise<Observation[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(below, entry.name);
      if (entry.name === 'node_modules' || CREDENTIALS.test(entry.name)) return [];
      if (entry.isDirectory()) return listed(folder, path);
      return [{ where: `the file ${path}`, text: await readFile(join(folder, path), 'utf8') }];
    }),
  );
  return found.flat();
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * The texts of all files below a folder. Node-RED writes its context into a file of another name, which it
 * then renames: when a file is no longer there, its text is in one that the list does not have yet.
 */
export const files = (folder: string): Promise<Observation[]> =>
  until(
    () =>
      listed(folder).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      }),
    `each file that is listed in ${folder} can be read`,
  );

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
export async function observe(red: NodeRed, further: readonly string[] = []): Promise<Observer> {
  let comms = '';
  const close = await listenIn(red.url, (text) => (comms += text));
  const log = tail(() => red.log());
  const sent = tail(() => comms);
  const answer = async (route: string): Promise<Observation> => {
    const headers = { accept: 'application/json', 'node-red-api-version': 'v2' };
    const response = await request(`${red.url}/${route}`, { headers });
    return { where: `the answer to GET /${route}`, text: await response.text() };
  };
  return {
    async collect() {
      return [
        { where: 'the log', text: log() },
        { where: 'what the open editor is sent', text: sent() },
        { where: 'the messages', text: JSON.stringify(await red.records()) },
        ...(await Promise.all([...ROUTES, ...further].map(answer))),
        ...(await files(red.userDir)),
      ];
    },
    close,
  };
}
