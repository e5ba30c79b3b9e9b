import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `npm run dev`: the demo in a user folder of its own, built and started again whenever a source changes.
 * While a build fails, what ran before runs on. `-- --port 1890`, or PORT, chooses another port; Ctrl-C ends all of it.
 */

const WATCHED = ['src', 'nodes', 'icons', 'examples', 'build.mjs', 'package.json'];
const QUIET_MS = 200;
const STOPPED_WITHIN_MS = 15_000;
/** Those of `npm start`, such as `--port 1890`. */
const options = process.argv.slice(2);
const env = { DEVICE_CLOUD_DEMO_DIR: join(root, '.cache', 'dev'), ...process.env };

let demo;
let changed = false;
let working = false;
let ending = false;

const exitOf = (child) => new Promise((resolve) => child.once('exit', resolve));

/** @returns whether the build went well */
async function build() {
  const script = join(root, 'scripts', 'prepare.mjs');
  const child = spawn(process.execPath, [script, 'build'], { cwd: root, stdio: 'inherit' });
  return (await exitOf(child)) === 0;
}

/** The demo, ended by its id, or by itself should this process be killed. */
function start() {
  const preload = ['--require', join(root, 'test', 'tooling', 'end-with-parent.cjs')];
  const child = spawn(process.execPath, [...preload, join(root, 'demo', 'start.mjs'), ...options], {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Not of the terminal's group: its Ctrl-C would come twice, and the second one waits for nothing.
    detached: process.platform !== 'win32',
  });
  return { child, ended: exitOf(child) };
}

async function stop(running) {
  if (!running) return;
  // Windows has no signals: there a message asks for the end. What has ended already cannot be asked.
  if (process.platform === 'win32') running.child.send('end', () => undefined);
  else running.child.kill('SIGTERM');
  await Promise.race([running.ended, sleep(STOPPED_WITHIN_MS, undefined, { ref: false })]);
  running.child.kill('SIGKILL');
  await running.ended;
}

/** Builds and starts again, until nothing has changed meanwhile. */
async function refresh() {
  changed = true;
  if (working) return;
  working = true;
  while (changed && !ending) {
    await sleep(QUIET_MS);
    changed = false;
    const built = await build();
    if (changed || ending) continue;
    if (!built) console.log('The build failed; waiting for the next change.');
    else {
      await stop(demo);
      if (!ending) demo = start();
    }
  }
  working = false;
}

async function end() {
  if (ending) process.exit(1);
  ending = true;
  await stop(demo);
  process.exit(0);
}

try {
  setup({ build: false });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  for (const path of WATCHED.filter((name) => existsSync(join(root, name)))) {
    watch(join(root, path), { recursive: true }, () => void refresh());
  }
  await refresh();
} catch (error) {
  fail(error);
}
