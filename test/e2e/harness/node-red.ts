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
  /** What is in a fresh user folder before the start, by path: saved flows, for example. */
  files?: Readonly<Record<string, string>>;
  env?: NodeJS.ProcessEnv;
  settings?: object;
  /** Who deploys, where the settings ask for a log-in. */
  user?: User;
  /** The folder of an earlier one; default: a fresh one with the package installed in it. */
  userDir?: string;
}

let count = 0;

async function freshUserDir(files: StartOptions['files']): Promise<string> {
  count += 1;
  const userDir = await userDirWithPackage(`user-${count}`);
  for (const [path, text] of Object.entries({ 'flows.json': '[]', ...files })) {
    await mkdir(dirname(join(userDir, path)), { recursive: true });
    await writeFile(join(userDir, path), text);
  }
  return userDir;
}

/** Starts Node-RED in a user folder, and deploys `flows`. */
export async function startNodeRed(options: StartOptions = {}): Promise<NodeRed> {
  const userDir = options.userDir ?? (await freshUserDir(options.files));
  const settingsFile = join(userDir, 'settings.json');
  await writeFile(settingsFile, JSON.stringify({ ...SETTINGS, ...options.settings }));
  const red = spawnNodeRed(settingsFile, userDir, options.env ?? {});
  const [, url] = await red.logged(/now running at (http:\S+?)\/?\s/);
  await red.logged(/Started flows/);
  const login = options.user ? await logIn(url!, options.user) : {};
  const nodeRed = { ...drive(red, url!, login), userDir };
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
