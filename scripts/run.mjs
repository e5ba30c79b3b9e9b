import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `node scripts/run.mjs bench/bench …`: installs and builds what is missing, and runs a program of `dist`. */

const [program, ...parameters] = process.argv.slice(2);
try {
  setup();
  const main = join(root, 'dist', `${program}.js`);
  const child = spawn(process.execPath, ['--enable-source-maps', main, ...parameters], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.once('close', (code) => (process.exitCode = code ?? 1));
} catch (error) {
  fail(error);
}
