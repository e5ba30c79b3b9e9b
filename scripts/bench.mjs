import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `npm run bench [-- --quick]`: see docs/performance.md. */

try {
  setup();
  const bench = join(root, 'dist', 'bench', 'bench.js');
  const child = spawn(process.execPath, ['--enable-source-maps', bench, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  child.once('close', (code) => (process.exitCode = code ?? 1));
} catch (error) {
  fail(error);
}
