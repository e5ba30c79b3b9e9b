import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, npm } from './npm.mjs';
import { installNodeRed5, isVersion, target } from './node-red.mjs';
import { pack } from './packed.mjs';
import { examples } from './examples.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `npm run clean-install [-- --on 4|5] [--tarball file]`: installs the packed package and Node-RED into a new
 * folder with nothing else, starts it, and deploys every example that the import menu has, all side by side. It fails
 * when a line of the log tells of something wrong. Packages come from the registry, so it is no part of `npm test`; there
 * the examples are tried one by one.
 */

const NODE_RED = { 4: 'node-red@4.1', 5: 'node-red@5' };
const QUICK = ['--prefer-offline', '--no-audit', '--no-fund'];
const PACKAGE = '@device-cloud/node-red-device-cloud';
const MENU = `library/examples/flows/${PACKAGE}`;

/** What every Node-RED with such settings says at its start, by itself. */
const OWN_WARNINGS = /Projects disabled : set editorTheme|Using unencrypted credentials$/;
const SERIOUS = /\[(warn|error|fatal)\]|\w(Warning|Error): /;

function options() {
  const { values } = parseArgs({
    options: { on: { type: 'string' }, tarball: { type: 'string' } },
  });
  if (values.on && !isVersion(values.on)) throw new SetupError('--on is 4 or 5.');
  return { versions: values.on ? [values.on] : Object.keys(NODE_RED), tarball: values.tarball };
}

/** Deploys the examples as the import menu gives them, but for those that need further packages. */
async function deployExamples({ url, logged }, adapt) {
  const ask = async (path, init) => {
    const response = await fetch(`${url}/${path}`, init);
    if (!response.ok) throw new SetupError(`${path} was answered ${response.status}.`);
    return response;
  };
  const flows = [];
  for (const { folder, name } of examples) {
    const response = await ask([MENU, folder, name].map(encodeURI).join('/'));
    const nodes = await response.json();
    if (!nodes.some(({ type }) => type === 'global-config')) flows.push(...nodes);
  }
  await ask('flows', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(adapt(flows)),
  });
  await logged(/Started flows[^]*Started flows/);
}

async function tryOn(version, tarball) {
  // What is imported here needs what setup builds.
  const { startNodeRed } = await import('../dist/test/tooling/node-red/process.js');
  const { atPort, startBroker } = await import('../dist/test/tooling/servers/broker.js');
  if (version === '5') installNodeRed5();
  const folder = mkdtempSync(join(tmpdir(), 'device-cloud-clean-'));
  const broker = await startBroker();
  let red;
  try {
    console.log(`Installing ${NODE_RED[version]} and ${basename(tarball)} in a new folder …`);
    writeFileSync(join(folder, 'package.json'), '{ "name": "clean", "private": true }\n');
    npm(['install', ...QUICK, NODE_RED[version], tarball], { cwd: folder });
    const nodeRed = join(folder, 'node_modules', 'node-red');
    red = await startNodeRed({ userDir: folder, node: target(version).env.E2E_NODE, nodeRed });
    await deployExamples(red, (nodes) => atPort(nodes, broker.port));
    const wrong = red
      .log()
      .split('\n')
      .filter((line) => SERIOUS.test(line) && !OWN_WARNINGS.test(line));
    if (wrong.length > 0) throw new SetupError(wrong.join('\n'));
    console.log(`  ok: ${/Node-RED version: (\S+)/.exec(red.log())[1]}, with all examples`);
  } finally {
    await red?.end();
    await broker.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const packed = mkdtempSync(join(tmpdir(), 'device-cloud-packed-'));
try {
  const { versions, tarball } = options();
  setup();
  const file = tarball ? resolve(tarball) : pack(packed);
  for (const version of versions) await tryOn(version, file);
} catch (error) {
  fail(error);
} finally {
  rmSync(packed, { recursive: true, force: true });
}
