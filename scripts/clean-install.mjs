import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, npm } from './npm.mjs';
import { installNodeRed5, isVersion, target } from './node-red.mjs';
import { pack } from './packed.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `npm run clean-install [-- --on 4|5] [--tarball file]`: installs the packed package and Node-RED into a new
 * folder with nothing else, starts it, and imports, deploys and presses every example. It fails when a line
 * of the log tells of something wrong. Packages come from the registry, so it is no part of `npm test`.
 */

const NODE_RED = { 4: 'node-red@4.1', 5: 'node-red@5' };
const QUICK = ['--prefer-offline', '--no-audit', '--no-fund'];

function options() {
  try {
    const { values } = parseArgs({
      options: { on: { type: 'string' }, tarball: { type: 'string' } },
    });
    if (values.on && !isVersion(values.on)) throw new Error(`There is no version "${values.on}"`);
    return { versions: values.on ? [values.on] : Object.keys(NODE_RED), tarball: values.tarball };
  } catch (error) {
    throw new SetupError(
      `${error.message}. Usage: npm run clean-install [-- --on 4|5] [--tarball file]`,
    );
  }
}

/** @returns whether nothing was wrong */
async function tryOn(version, tarball) {
  // What is imported here needs what setup installs.
  const { startNodeRed } = await import('./clean-install/node-red.mjs');
  const { tryExamples } = await import('./clean-install/examples.mjs');
  if (version === '5') installNodeRed5();
  const node = target(version).env.E2E_NODE;
  const folder = mkdtempSync(join(tmpdir(), 'device-cloud-clean-'));
  let red;
  try {
    console.log(`\nInstalling ${NODE_RED[version]} and ${basename(tarball)} in a new folder …`);
    writeFileSync(join(folder, 'package.json'), '{ "name": "clean", "private": true }\n');
    npm(['install', ...QUICK, NODE_RED[version], tarball], { cwd: folder });
    red = await startNodeRed(folder, node);
    console.log(`Node-RED ${red.versions.join(' on Node.js ')}`);
    return await tryExamples(red);
  } finally {
    await red?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const packed = mkdtempSync(join(tmpdir(), 'device-cloud-packed-'));
try {
  const { versions, tarball } = options();
  setup();
  const file = tarball ? resolve(tarball) : pack(packed);
  for (const version of versions) {
    if (!(await tryOn(version, file))) process.exitCode = 1;
  }
} catch (error) {
  fail(error);
} finally {
  rmSync(packed, { recursive: true, force: true });
}
