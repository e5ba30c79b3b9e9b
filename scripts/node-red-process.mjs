import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError, root } from './npm.mjs';

const STARTED_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 50;

const SETTINGS = {
  uiHost: '127.0.0.1',
  flowFile: 'flows.json',
  credentialSecret: false,
  telemetry: { enabled: false },
  logging: { console: { level: 'info', metrics: false, audit: false } },
};

/**
 * Starts a Node-RED without flows in a process of its own, on loopback, and waits until it is up.
 * @param program `node` that runs it, and the folder `nodeRed` that it is installed in
 * @param folder its user folder
 * @param options settings and variables of the environment of its own
 * @returns its `url`; its `log` from a position on; `logged`, which waits for a line; `stop`
 */
export async function startProcess({ node, nodeRed }, folder, { settings = {}, env = {} } = {}) {
  const settingsFile = join(folder, 'settings.json');
  writeFileSync(settingsFile, JSON.stringify({ ...SETTINGS, ...settings }));
  writeFileSync(join(folder, 'flows.json'), '[]');
  const preload = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const red = [join(nodeRed, 'red.js'), '-u', folder, '-s', settingsFile, '-p', '0'];
  const child = spawn(node, [...preload, ...red], {
    cwd: folder,
    env: { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  let ended;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (log += text));
  }
  const end = new Promise((resolve) => {
    const note = (how) => resolve((ended = how));
    child.once('error', (error) => note(error.message));
    child.once('close', (code, signal) => note(signal ?? `exit code ${code}`));
  });

  /** Waits for a line after a position of the log. @returns the match */
  async function logged(pattern, from = 0) {
    const deadline = Date.now() + STARTED_WITHIN_MS;
    for (;;) {
      const match = pattern.exec(log.slice(from));
      if (match) return match;
      if (ended) throw new SetupError(`${log}\nNode-RED has ended by itself (${ended}).`);
      if (Date.now() > deadline) throw new SetupError(`${log}\nThe log never shows ${pattern}.`);
      await sleep(LOOK_EVERY_MS);
    }
  }

  async function stop() {
    if (process.platform === 'win32' && child.connected) child.send('end');
    else child.kill('SIGTERM');
    await Promise.race([end, sleep(STOPPED_WITHIN_MS, undefined, { ref: false })]);
    child.kill('SIGKILL');
    await end;
  }

  try {
    const [, url] = await logged(/now running at (http:\S+?)\/?\s/);
    await logged(/Started flows/);
    return { url, log: (from = 0) => log.slice(from), logged, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
