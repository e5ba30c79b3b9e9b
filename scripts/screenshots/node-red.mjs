import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../npm.mjs';

const STARTED_WITHIN_MS = 60_000;

const SETTINGS = {
  flowFile: 'flows.json',
  uiHost: '127.0.0.1',
  credentialSecret: false,
  telemetry: { enabled: false },
  // The dashboard is the demo's; these are the nodes of a bare Node-RED and ours.
  nodesExcludes: ['node-red-dashboard'],
  // The page asks nothing of the world outside.
  editorTheme: { tours: false, palette: { catalogues: [] } },
  logging: { console: { level: 'info', metrics: false, audit: false } },
};

/** A user folder with this package in it, and nothing but this package. */
function userDir(name, settings) {
  const folder = join(root, '.cache', 'screenshots', name);
  rmSync(folder, { recursive: true, force: true });
  const scope = join(folder, 'node_modules', '@device-cloud');
  mkdirSync(scope, { recursive: true });
  symlinkSync(root, join(scope, 'node-red-device-cloud'), 'junction');
  const dependencies = { '@device-cloud/node-red-device-cloud': '*' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'user', dependencies }));
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...SETTINGS, ...settings }));
  writeFileSync(join(folder, 'flows.json'), '[]');
  return folder;
}

/** Resolves with the address that it logs, once its flows have started. */
function started(child) {
  let log = '';
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`Node-RED ${why}. Its log:\n${log}`));
    const limit = setTimeout(() => fail('did not start in time'), STARTED_WITHIN_MS);
    child.once('exit', () => fail('ended by itself'));
    child.once('error', reject);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      log += text;
      const [, url] = /now running at (http:\S+?)\/?\s/.exec(log) ?? [];
      if (!url || !log.includes('Started flows')) return;
      clearTimeout(limit);
      resolve(url);
    });
  });
}

/** Starts a version of Node-RED in a process of its own, with these flows. */
export async function startNodeRed({ name, node, nodeRed }, flows, settings = {}) {
  const folder = userDir(name, settings);
  const preload = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const red = [join(nodeRed, 'red.js'), '-u', folder, '-s', join(folder, 'settings.json')];
  const child = spawn(node, [...preload, ...red, '-p', '0'], {
    cwd: folder,
    env: { ...process.env, HTTP_PROXY: '', HTTPS_PROXY: '', http_proxy: '', https_proxy: '' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const url = await started(child);
  const response = await fetch(`${url}/flows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(flows),
  });
  if (!response.ok) throw new Error(`The flows were not taken: ${await response.text()}`);
  return {
    url,
    async stop() {
      child.removeAllListeners('exit');
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const stubborn = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(stubborn);
    },
  };
}
