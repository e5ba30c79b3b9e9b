import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from '../node-red-process.mjs';
import { root } from '../npm.mjs';

const SETTINGS = {
  // The dashboard is the demo's; these are the nodes of a bare Node-RED and ours.
  nodesExcludes: ['node-red-dashboard'],
  // The page asks nothing of the world outside.
  editorTheme: { tours: false, palette: { catalogues: [] } },
};

/** A user folder with this package in it, and nothing but this package. */
function userDir(name) {
  const folder = join(root, '.cache', 'screenshots', name);
  rmSync(folder, { recursive: true, force: true });
  const scope = join(folder, 'node_modules', '@device-cloud');
  mkdirSync(scope, { recursive: true });
  symlinkSync(root, join(scope, 'node-red-device-cloud'), 'junction');
  const dependencies = { '@device-cloud/node-red-device-cloud': '*' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'user', dependencies }));
  return folder;
}

/** Starts a version of Node-RED in a process of its own, with these flows. */
export async function startNodeRed({ name, ...program }, flows, settings = {}) {
  const options = { settings: { ...SETTINGS, ...settings } };
  const { url, stop } = await startProcess(program, userDir(name), options);
  const response = await fetch(`${url}/flows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(flows),
  });
  if (!response.ok) {
    await stop();
    throw new Error(`The flows were not taken: ${await response.text()}`);
  }
  return { url, stop };
}
