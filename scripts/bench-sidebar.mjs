import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_VERSION, installNodeRed5, isVersion, target } from './node-red.mjs';
import { SetupError, root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `npm run bench:sidebar [-- --on 5]`: see docs/inside/performance.md. */

try {
  const { on } = parseArgs({
    options: { on: { type: 'string', default: DEFAULT_VERSION } },
  }).values;
  if (!isVersion(on)) throw new SetupError(`--on is 4 or 5, not ${on}.`);
  setup();
  if (on === '5') installNodeRed5();
  const main = join(root, 'dist', 'bench', 'sidebar', 'sidebar.js');
  const env = { ...process.env, ...target(on).env };
  const child = spawn(process.execPath, ['--enable-source-maps', main], { stdio: 'inherit', env });
  child.once('close', (code) => (process.exitCode = code ?? 1));
} catch (error) {
  fail(error);
}
