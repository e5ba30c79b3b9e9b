import { join } from 'node:path';
import { spawnNodeRed } from '../dist/test/tooling/node-red/process.js';
import { until } from '../dist/test/tooling/until.js';
import { SetupError, root } from '../scripts/npm.mjs';
import { settings, userDir } from './user-dir.mjs';

const STARTED_WITHIN_MS = 120_000;

/** Starts the demo's Node-RED, which prints its errors here. */
export const startNodeRed = (port) =>
  spawnNodeRed({
    userDir,
    settings: settings(port),
    nodeRed: join(root, 'node_modules', 'node-red'),
    node: process.execPath,
    // Proxies included: a person may install further nodes.
    env: process.env,
    show: true,
  });

/** Resolves once every address answers; rejects when one has not after a minute. */
export async function answering(addresses) {
  for (const address of addresses) {
    await until(() => answers(address), 'it answers', STARTED_WITHIN_MS).catch(() => {
      throw new SetupError(`${address} does not answer.`);
    });
  }
}

async function answers(address) {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(5000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
