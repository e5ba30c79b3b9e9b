import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BARE, keep, type Child } from '../process';
import { repository } from '../repository';
import { TIMEOUT } from '../until';

/** A Node-RED in a process of its own. */
export interface NodeRedProcess extends Child {
  /** Address of its editor and admin API, without a `/` at its end. */
  url: string;
}

export interface NodeRedOptions {
  /** What is in it, stays; its settings.json is written. */
  userDir: string;
  /** Settings on top of those that all have in common. */
  settings?: object;
  /** Variables on top of those of this process, of which those of proxies are left out. */
  env?: NodeJS.ProcessEnv;
  /** Path of the Node.js that runs it; default: E2E_NODE, or the one of this process. */
  node?: string;
  /** Folder that it is installed in; default: E2E_NODE_RED, or the one of this repository. */
  nodeRed?: string;
  /** Whether it prints for a person to read, and keeps no log. */
  show?: boolean;
}

/** A Node-RED that listens on loopback, at a port of its own choice, and is not curious. */
export const SETTINGS = {
  uiHost: '127.0.0.1',
  flowFile: 'flows.json',
  credentialSecret: false,
  telemetry: { enabled: false },
  editorTheme: { tours: false },
  // The dashboard is the demo's; these are the nodes of a bare Node-RED and ours.
  nodesExcludes: ['node-red-dashboard'],
  logging: { console: { level: 'info', metrics: false, audit: false } },
} as const;

/**
 * What a user has chosen who has switched the tips off. The editor of Node-RED 5 shows a tip after a second, and fails if
 * its sidebar is not there by then, which happens on a busy machine.
 */
const WITHOUT_TIPS = { _: { editor: { view: { 'view-show-tips': false } } } };

/** Should this process be killed, so that it can no longer end its child, the child ends by itself. */
const END_WITH_PARENT = join(repository, 'test', 'tooling', 'end-with-parent.cjs');

/** Arguments of a Node.js that ends with this process, given an `ipc` channel to it. */
export const endingWithParent = ['--require', END_WITH_PARENT] as const;

/** Starts a Node-RED, without waiting for it. */
export function spawnNodeRed(options: NodeRedOptions): Child {
  const { userDir, settings = {}, env = {}, show = false } = options;
  const node = options.node ?? process.env['E2E_NODE'] ?? process.execPath;
  const nodeRed =
    options.nodeRed ?? process.env['E2E_NODE_RED'] ?? join(repository, 'node_modules', 'node-red');
  mkdirSync(userDir, { recursive: true });
  const settingsFile = join(userDir, 'settings.json');
  const whole = { uiPort: 0, ...SETTINGS, ...settings };
  writeFileSync(settingsFile, JSON.stringify(whole, null, 2));
  const users = join(userDir, '.config.users.json');
  if (!show && !existsSync(users)) writeFileSync(users, JSON.stringify(WITHOUT_TIPS));
  const red = [join(nodeRed, 'red.js'), '-u', userDir, '-s', settingsFile];
  const out = show ? 'inherit' : 'pipe';
  const child = spawn(node, [...endingWithParent, ...red], {
    cwd: userDir,
    env: { ...process.env, ...BARE, ...env },
    stdio: ['ignore', out, out, 'ipc'],
  });
  return keep('Node-RED', child);
}

/** Starts a Node-RED; it is ready when its flows have started. */
export async function startNodeRed(options: NodeRedOptions): Promise<NodeRedProcess> {
  const red = spawnNodeRed(options);
  try {
    // It reads a thousand files first, and other suites start theirs at the same time.
    const [, url = ''] = await red.logged(/now running at (http:\S+?)\/?\s/, 0, 4 * TIMEOUT);
    await red.logged(/Started flows/);
    return { ...red, url };
  } catch (error) {
    await red.end('SIGKILL').catch(() => undefined);
    throw error;
  }
}
