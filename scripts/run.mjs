import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { DEFAULT_VERSION, installNodeRed5, isVersion, target } from './node-red.mjs';
import { SetupError, root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `node scripts/run.mjs test/soak/soak …`: installs and builds what is missing, and runs a program of `dist`. With `--on 5`
 * as the first option, what it starts is Node-RED 5.
 */

const [program, ...typed] = process.argv.slice(2);
const [version, parameters] =
  typed[0] === '--on' ? [typed[1], typed.slice(2)] : [DEFAULT_VERSION, typed];
try {
  if (!isVersion(version)) throw new SetupError(`--on is 4 or 5, not ${version}.`);
  setup();
  if (version === '5') installNodeRed5();
  const main = join(root, 'dist', `${program}.js`);
  const child = spawn(process.execPath, ['--enable-source-maps', main, ...parameters], {
    stdio: 'inherit',
    env: { ...process.env, ...target(version).env },
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.once('close', (code) => (process.exitCode = code ?? 1));
} catch (error) {
  fail(error);
}
