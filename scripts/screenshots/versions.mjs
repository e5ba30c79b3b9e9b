import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../npm.mjs';

/** Where the tests keep a Node-RED 5, and the Node.js that it needs. */
const FIVE = join(root, 'test', 'node-red-5', 'node_modules');
const NODES = ['node', `node-${process.platform}-${process.arch}`];

const firstThatExists = (paths) => paths.find((path) => existsSync(path));

/** A Node-RED 5 named by the variables that the tests use too, else the tests' own, if there is one. */
function nodeRed5() {
  const nodeRed = process.env.E2E_NODE_RED ?? firstThatExists([join(FIVE, 'node-red')]);
  if (!nodeRed) return undefined;
  const found = firstThatExists(NODES.map((name) => join(FIVE, name, 'bin', 'node')));
  return { nodeRed, node: process.env.E2E_NODE ?? found ?? process.execPath };
}

/** The editors whose dialogs are shown: name, where they are, and which themes they have. */
export function versions() {
  const five = nodeRed5();
  const four = { nodeRed: join(root, 'node_modules', 'node-red'), node: process.execPath };
  const all = [{ name: 'node-red-4', ...four, themes: ['light'] }];
  if (five) all.push({ name: 'node-red-5', ...five, themes: ['light', 'dark'] });
  else
    console.log('No Node-RED 5: name one with E2E_NODE_RED, and a Node.js for it with E2E_NODE.');
  return all;
}
