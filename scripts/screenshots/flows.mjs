import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { EDITOR_SETTINGS } from '../../dist/test/tooling/editor/page.js';
import { apps, bareNodes, sampleNodes, variants } from '../../dist/test/tooling/editor/samples.js';
import { app } from '../../dist/test/tooling/node-red/nodes.js';
import { startNodeRed } from '../../dist/test/tooling/node-red/process.js';
import { makeUserDir } from '../../dist/test/tooling/node-red/user-dir.js';
import { root } from '../npm.mjs';

/**
 * Starts a version of Node-RED with these flows, this package, and nothing but this package.
 * @param settings in place of those of the tests of the editor
 */
export async function startWithFlows({ name, node, nodeRed }, flows, settings = EDITOR_SETTINGS) {
  const userDir = join(root, '.cache', 'screenshots', name);
  rmSync(userDir, { recursive: true, force: true });
  makeUserDir(userDir);
  const red = await startNodeRed({ userDir, node, nodeRed, settings });
  const response = await fetch(`${red.url}/flows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(flows),
  });
  if (response.ok) return red;
  await red.end();
  throw new Error(`The flows were not taken: ${await response.text()}`);
}

/** The flows of the gallery; `app` is a simulator as the cloud would be. */
export function galleryFlows(simulator) {
  const cloud = app(simulator);
  return [
    { id: 'tab', type: 'tab', label: 'Device cloud' },
    ...[...sampleNodes, ...variants, ...bareNodes].map(placed),
    cloud,
    { ...apps[0], id: 'simulated' },
    // An id that is no property's value: Node-RED would take it for a reference.
    { ...apps[1], id: 'my-cloud' },
    ...apps.slice(2),
    { ...cloud, id: 'wrong-key', name: 'wrong key', credentials: { appkey: 'wrong' } },
    { ...cloud, id: 'unreachable', name: 'nowhere', baseUrl: 'http://nowhere.invalid:8080' },
    { ...cloud, id: 'empty', name: 'no keys', credentials: {} },
  ];
}

/** In three columns, so that all are seen at once. */
function placed(node, index) {
  return { ...node, x: 160 + 250 * (index % 3), y: 60 + 70 * Math.floor(index / 3) };
}
