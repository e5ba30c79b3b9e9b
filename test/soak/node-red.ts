import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, node } from '../tooling/node-red/nodes';
import { fleetFlow, fleetNodes } from './fleet-flow';
import type { NoteFiles } from './notes';
import type { Position } from '../../src/recovery/position';
import { startNodeRed as start, type NodeRedProcess } from '../tooling/node-red/process';
import { makeUserDir } from '../tooling/node-red/user-dir';
import type { ServiceAddress } from './service-messages';

const TAB = 'tab';
const LISTEN = 'listen';

/** Seconds between two pings: small, so that silent peers are found within the run. */
const PING = '1';

/** A node type of the soak's own, which writes down what it gets. */
const RECORD = 'soak-record';

/** How the listener of the soak is set. */
export interface ListenerSettings {
  recover: 'reconnect' | 'restart';
  datatype: 'auto-detect' | 'utf8';
}

function flows(service: ServiceAddress, listener: ListenerSettings): object[] {
  const place = { z: TAB, x: 100, y: 100, name: '' };
  const config = app(service, { ping: PING });
  return [
    { id: TAB, type: 'tab', label: 'soak', disabled: false },
    config,
    {
      ...node('listen', { chipids: service.chipids, ...listener }),
      ...place,
      id: LISTEN,
      wires: [['record']],
    },
    { ...place, id: 'record', type: RECORD, wires: [] },
    ...fleetFlow(service.peers, listener.recover === 'restart' ? 'current' : 'none').map(
      (each) => ({
        ...place,
        ...each,
      }),
    ),
  ];
}

const SETTINGS = { httpAdminRoot: false };

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

/**
 * The user folder of a Node-RED with the package and the flow of the soak in it.
 * @param notes where is written down what becomes of requests, commands and presence
 */
export function prepareUserDir(
  userDir: string,
  recordFile: string,
  notes: NoteFiles,
  service: ServiceAddress,
  listener: ListenerSettings,
): void {
  makeUserDir(userDir);
  const { appkey } = service;
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flows(service, listener)));
  writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ app: { appkey } }));
  mkdirSync(join(userDir, 'nodes'));
  writeFileSync(join(userDir, 'nodes', `${RECORD}.js`), recordNode(recordFile));
  writeFileSync(join(userDir, 'nodes', `${RECORD}.html`), RECORD_HTML);
  for (const [name, text] of fleetNodes(notes)) writeFileSync(join(userDir, 'nodes', name), text);
}

/** The positions that the listen node has saved, by chip number. */
export function savedPositions(userDir: string): Record<string, Position> {
  try {
    const file = join(userDir, 'device-cloud', 'app', 'position.json');
    const { entries } = JSON.parse(readFileSync(file, 'utf8')) as {
      entries: Record<string, Position>;
    };
    const own = Object.entries(entries).filter(([key]) => key.split(':')[1] === LISTEN);
    return Object.fromEntries(own.map(([key, position]) => [key.split(':')[2], position]));
  } catch {
    return {};
  }
}

/** Starts Node-RED in such a user folder. */
export const startNodeRed = (userDir: string): Promise<NodeRedProcess> =>
  start({ userDir, settings: SETTINGS });
