import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stage } from '../docs/site/stage.mjs';
import { SetupError, root } from './npm.mjs';
import { fail, installIn } from './setup.mjs';

/*
 * `npm run docs` builds the site from docs/ and the help of the nodes; `--serve` shows it on this machine afterwards.
 * What builds it is installed into docs/, so that nobody else waits for it. DOCS_BASE is the path below which it will be.
 */

const docs = join(root, 'docs');
/** Below docs/, where the site's configuration finds what is installed there. */
const folder = join(docs, '.site');

function vitepress(...args) {
  const main = join(docs, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  const { status } = spawnSync(process.execPath, [main, ...args], { cwd: docs, stdio: 'inherit' });
  if (status > 0) throw new SetupError(`vitepress ${args[0]} failed.`);
}

try {
  const { values } = parseArgs({
    options: { serve: { type: 'boolean' }, port: { type: 'string', default: '4173' } },
  });
  // No script of theirs is needed: their binaries are packages.
  installIn(docs, 'what builds the site', { options: ['--ignore-scripts'] });
  stage(folder);
  vitepress('build', '.site');
  console.log(`The site is in ${join(folder, 'dist')}`);
  if (values.serve) vitepress('preview', '.site', '--host', '127.0.0.1', '--port', values.port);
} catch (error) {
  fail(error);
}
