import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/npm.mjs';

/**
 * Where the demo's Node-RED keeps its files: ignored by git, and safe to delete. The variable is for
 * the tests, which leave a person's demo alone.
 */
export const userDir = process.env.DEVICE_CLOUD_DEMO_DIR ?? join(root, '.cache', 'demo');
export const settingsFile = join(userDir, 'settings.json');

/**
 * Puts the demo's flows and settings into Node-RED's user folder. Flows that a person has changed
 * in the editor stay as they are, unless `reset`.
 */
export function prepareUserDir({ port, reset }) {
  mkdirSync(userDir, { recursive: true });
  writeFileSync(settingsFile, JSON.stringify(settings(port), null, 2));
  const mine = join(userDir, 'flows.json');
  const delivered = join(userDir, 'flows.delivered.json');
  if (existsSync(mine) && !same(mine, delivered) && !reset) {
    console.log('Keeping your changes to the demo flows (npm start -- --reset drops them).');
    return;
  }
  copyFileSync(join(root, 'demo', 'flows.json'), mine);
  copyFileSync(join(root, 'demo', 'flows.json'), delivered);
  copyFileSync(join(root, 'demo', 'flows_cred.json'), join(userDir, 'flows_cred.json'));
}

const same = (a, b) => existsSync(b) && readFileSync(a).equals(readFileSync(b));

const settings = (port) => ({
  uiPort: port,
  // An editor without a password is for this machine alone.
  uiHost: '127.0.0.1',
  userDir,
  flowFile: 'flows.json',
  flowFilePretty: true,
  // The package itself. The dashboard is found in node_modules, where Node-RED looks anyway.
  nodesDir: [root],
  // The demo's credentials are only names of environment variables.
  credentialSecret: false,
  telemetry: { enabled: false },
  editorTheme: { tours: false, header: { title: 'Device cloud demo' } },
  logging: { console: { level: 'error', metrics: false, audit: false } },
});
