import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/npm.mjs';

/**
 * Where the demo's Node-RED keeps its files: ignored by git, and safe to delete. The variable is for
 * the tests, which leave a person's demo alone.
 */
export const userDir = process.env.DEVICE_CLOUD_DEMO_DIR ?? join(root, '.cache', 'demo');

/**
 * Puts the demo's flows and settings into Node-RED's user folder. Flows that a person has changed
 * in the editor stay as they are, unless `reset`.
 */
export function prepareUserDir({ reset }) {
  mkdirSync(userDir, { recursive: true });
  const mine = join(userDir, 'flows.json');
  const delivered = join(userDir, 'flows.delivered.json');
  if (existsSync(mine) && !same(mine, delivered) && !reset) {
    console.log('Keeping your changes to the demo flows (npm start -- --reset drops them).');
    return;
  }
  copyFileSync(join(root, 'demo', 'flows.json'), mine);
  copyFileSync(join(root, 'demo', 'flows.json'), delivered);
}

const same = (a, b) => existsSync(b) && readFileSync(a).equals(readFileSync(b));

export const settings = (port) => ({
  uiPort: port,
  nodesExcludes: [],
  userDir,
  flowFilePretty: true,
  // The package itself. The dashboard is found in node_modules, where Node-RED looks anyway.
  nodesDir: [root],
  // The demo has no credentials; a person's own are in a folder that git ignores.
  credentialSecret: false,
  editorTheme: { tours: false, header: { title: 'Device cloud demo' } },
  logging: { console: { level: 'error', metrics: false, audit: false } },
});
