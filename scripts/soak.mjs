import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `npm run soak -- --minutes 10 --devices 50 --rate 300 --seed 1 --kill`: see docs/reliability.md. */

/** Minutes for what comes before and after the time that was asked for. */
const AROUND = 6;

const minutes = Number(/--minutes[= ](\S+)/.exec(process.argv.join(' '))?.[1] ?? 2);
try {
  setup();
  const soak = join(root, 'dist', 'test', 'soak', 'soak.js');
  const child = spawn(process.execPath, ['--enable-source-maps', soak, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), ((minutes || 0) + AROUND) * 60_000);
  child.once('close', (code) => {
    clearTimeout(limit);
    process.exitCode = code ?? 1;
  });
} catch (error) {
  fail(error);
}
