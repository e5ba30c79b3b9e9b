import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { app, node } from '../e2e/harness/nodes';
import type { Position } from '../../src/recovery/position';
import { keep, type Child } from './child';
import { repository } from '../support/repository';
import type { ServiceAddress } from './service-messages';

const TAB = 'tab';
const LISTEN = 'listen';

/** Seconds between two pings: small, so that silent peers are found within the run. */
const PING = '1';
const START_LIMIT = 60_000;

/** A node type of the soak's own, which writes down what it gets. */
const RECORD = 'soak-record';

function flows(service: ServiceAddress, recover: 'reconnect' | 'restart'): object[] {
  const place = { z: TAB, x: 100, y: 100, name: '' };
  const config = app(service, { ping: PING });
  return [
    { id: TAB, type: 'tab', label: 'soak', disabled: false },
    config,
    {
      ...node('listen', { chipids: service.chipids, recover }),
      ...place,
      id: LISTEN,
      wires: [['record']],
    },
    { ...place, id: 'record', type: RECORD, wires: [] },
  ];
}

const SETTINGS = {
  flowFile: 'flows.json',
  uiHost: '127.0.0.1',
  httpAdminRoot: false,
  credentialSecret: false,
  telemetry: { enabled: false },
  // Written at once: what a kill may repeat is what came after the last write.
  contextStorage: { default: { module: 'localfilesystem', config: { cache: false } } },
  logging: { console: { level: 'info', metrics: false, audit: false } },
};

const recordNode = (recordFile: string): string => `
const { createRecorder } = require(${JSON.stringify(join(__dirname, 'recorder.js'))});
const record = createRecorder(${JSON.stringify(recordFile)});
module.exports = (RED) => {
  RED.nodes.registerType('${RECORD}', function (config) {
    RED.nodes.createNode(this, config);
    this.on('input', (msg, send, done) => { record(msg); done(); });
  });
};`;

const RECORD_HTML = `<script type="text/javascript">
RED.nodes.registerType('${RECORD}', { category: 'soak', defaults: {}, inputs: 1, outputs: 0 });
</script>`;

/** The user folder of a Node-RED with the package and the flow of the soak in it. */
export function prepareUserDir(
  userDir: string,
  recordFile: string,
  service: ServiceAddress,
  recover: 'reconnect' | 'restart',
): void {
  const { name } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { name: string }; // prettier-ignore
  const installed = join(userDir, 'node_modules', name);
  mkdirSync(dirname(installed), { recursive: true });
  symlinkSync(repository, installed, 'junction');
  const { appkey } = service;
  const manifest = { name: 'soak', private: true, dependencies: { [name]: '*' } };
  writeFileSync(join(userDir, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flows(service, recover)));
  writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ app: { appkey } }));
  writeFileSync(join(userDir, 'settings.json'), JSON.stringify(SETTINGS));
  mkdirSync(join(userDir, 'nodes'));
  writeFileSync(join(userDir, 'nodes', `${RECORD}.js`), recordNode(recordFile));
  writeFileSync(join(userDir, 'nodes', `${RECORD}.html`), RECORD_HTML);
}

/** The positions that the listen node has saved, by chip number. */
export function savedPositions(userDir: string): Record<string, Position> {
  try {
    const text = readFileSync(join(userDir, 'context', TAB, `${LISTEN}.json`), 'utf8');
    return (JSON.parse(text) as { positions?: Record<string, Position> }).positions ?? {};
  } catch {
    return {};
  }
}

/** Starts Node-RED; it is ready when its flows have started. */
export async function startNodeRed(userDir: string): Promise<Child> {
  const red = join(repository, 'node_modules', 'node-red', 'red.js');
  const preload = ['--require', join(repository, 'scripts', 'end-with-parent.cjs')];
  const parameters = [red, '-u', userDir, '-s', join(userDir, 'settings.json'), '-p', '0'];
  const bare = { HTTP_PROXY: undefined, HTTPS_PROXY: undefined, http_proxy: undefined, https_proxy: undefined }; // prettier-ignore
  const child = keep(
    'Node-RED',
    spawn(process.execPath, [...preload, ...parameters], {
      cwd: userDir,
      env: { ...process.env, ...bare },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  );
  const deadline = Date.now() + START_LIMIT;
  while (!child.log().includes('Started flows')) {
    if (Date.now() > deadline) throw new Error(`Node-RED does not start:\n${child.log()}`);
    await Promise.race([sleep(50), child.crashed]);
  }
  return child;
}
