import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/npm.mjs';

/**
 * Where the demo's Node-RED keeps its files: ignored by git, and safe to delete. The variable is for
 * the tests, which leave a person's demo alone.
 */
export const userDir = process.env.DEVICE_CLOUD_DEMO_DIR ?? join(root, '.cache', 'demo');

/**
 * Puts the demo's flows and device book into Node-RED's user folder. What a person has changed there stays as it is,
 * unless `reset`.
 */
export function prepareUserDir({ reset }) {
  mkdirSync(userDir, { recursive: true });
  for (const name of ['flows.json', 'devices.csv']) {
    const mine = join(userDir, name);
    const delivered = join(userDir, name.replace('.', '.delivered.'));
    if (existsSync(mine) && !same(mine, delivered) && !reset) {
      console.log(`Keeping your changes to ${name} of the demo (npm start -- --reset drops them).`);
      continue;
    }
    copyFileSync(join(root, 'demo', name), mine);
    copyFileSync(join(root, 'demo', name), delivered);
  }
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
