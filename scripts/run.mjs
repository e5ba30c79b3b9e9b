import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `node scripts/run.mjs test/soak/soak …`: installs and builds what is missing, and runs a program of `dist`. */

const [program, ...parameters] = process.argv.slice(2);
try {
  setup();
  const main = join(root, 'dist', `${program}.js`);
  process.argv.splice(1, Infinity, main, ...parameters);
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(main));
} catch (error) {
  fail(error);
}
