import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { logIn } from './admin';
import type { User } from './admin';
import { drive } from './drive';
import type { NodeRed } from './drive';
import type { FlowNode } from './flows';
import { userDirWithPackage } from './packed';
import { spawnNodeRed } from './process';

export type { Message, NodeRed, Recorded } from './drive';

interface StartOptions {
  flows?: FlowNode[];
  /** What is in the user folder before the start, by path: saved flows, for example. */
  files?: Readonly<Record<string, string>>;
  env?: NodeJS.ProcessEnv;
  settings?: object;
  /** Who deploys, where the settings ask for a log-in. */
  user?: User;
}

let count = 0;

/** Starts Node-RED in a fresh user folder with the package installed in it, and deploys `flows`. */
export async function startNodeRed(options: StartOptions = {}): Promise<NodeRed> {
  count += 1;
  const userDir = await userDirWithPackage(`user-${count}`);
  const settingsFile = join(userDir, 'settings.json');
  for (const [path, text] of Object.entries({ 'flows.json': '[]', ...options.files })) {
    await mkdir(dirname(join(userDir, path)), { recursive: true });
    await writeFile(join(userDir, path), text);
  }
  await writeFile(settingsFile, JSON.stringify({ ...SETTINGS, ...options.settings }));
  const red = spawnNodeRed(settingsFile, userDir, options.env ?? {});
  const [, url] = await red.logged(/now running at (http:\S+?)\/?\s/);
  await red.logged(/Started flows/);
  const nodeRed = drive(red, url!, options.user ? await logIn(url!, options.user) : {});
  if (options.flows) await nodeRed.deploy(options.flows);
  return nodeRed;
}

const SETTINGS = {
  flowFile: 'flows.json',
  uiHost: '127.0.0.1',
  credentialSecret: false,
  lang: 'en-US',
  telemetry: { enabled: false },
  editorTheme: { tours: false },
  // The dashboard is the demo's; these are the nodes of a bare Node-RED and ours.
  nodesExcludes: ['node-red-dashboard'],
  logging: { console: { level: 'trace', metrics: false, audit: false } },
};
