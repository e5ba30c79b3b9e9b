import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError, root } from '../scripts/npm.mjs';
import { settingsFile, userDir } from './user-dir.mjs';

const STARTED_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 10_000;

/**
 * Starts Node-RED in a process of its own, so that a crash is seen and everything can be ended.
 *
 * @returns `ended`, a promise of how it ended; `stop()`, which ends it by its id
 */
export function startNodeRed(env) {
  const preload = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const red = [join(root, 'node_modules', 'node-red', 'red.js'), '-u', userDir, '-s', settingsFile];
  const child = spawn(process.execPath, [...preload, ...red], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });

  async function stop() {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const stubborn = sleep(STOPPED_WITHIN_MS, undefined, { ref: false });
    await Promise.race([ended, stubborn]);
    child.kill('SIGKILL');
    await ended;
  }

  return { ended, stop };
}

/** Resolves once every address answers; fails when one has not after a minute. */
export async function answering(addresses) {
  const deadline = Date.now() + STARTED_WITHIN_MS;
  for (const address of addresses) {
    while (!(await answers(address))) {
      if (Date.now() > deadline) throw new SetupError(`${address} does not answer.`);
      await sleep(200);
    }
  }
}

async function answers(address) {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(5000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
