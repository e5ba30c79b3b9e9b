import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../npm.mjs';

const require = createRequire(import.meta.url);

/** What the editor's tests open too: each node, in each variant that shows other rows. */
export const { sampleNodes, variants, bareNodes, apps, appOf } = require(
  join(root, 'dist', 'test', 'editor', 'samples.js'),
);

/** The flows of the gallery; `app` is a simulator as the cloud would be. */
export function galleryFlows(simulator) {
  const cloud = appOf(simulator);
  return [
    { id: 'tab', type: 'tab', label: 'Device cloud' },
    ...[...sampleNodes, ...variants, ...bareNodes].map(placed),
    cloud,
    { ...apps[0], id: 'simulated' },
    // An id that is no property's value: Node-RED would take it for a reference.
    { ...apps[1], id: 'my-cloud' },
    { ...cloud, id: 'wrong-key', name: 'wrong key', credentials: { appkey: 'wrong' } },
    { ...cloud, id: 'unreachable', name: 'nowhere', baseUrl: 'http://nowhere.invalid:8080' },
    { ...cloud, id: 'empty', name: 'no keys', credentials: {} },
  ];
}

/** In three columns, so that all are seen at once. */
function placed(node, index) {
  return { ...node, x: 160 + 250 * (index % 3), y: 60 + 70 * Math.floor(index / 3) };
}
