import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Position } from '../../src/recovery/position';
import type { Simulator } from '../../src/simulator';
import { app, node, type FlowNode } from '../tooling/node-red/nodes';
import { startNodeRed as start, type NodeRedProcess } from '../tooling/node-red/process';
import { makeUserDir } from '../tooling/node-red/user-dir';
import { TYPES, type Files } from './nodes';

/** Seconds: short, so that much happens within the run, and silent peers are found within it. */
const [PING, TIMEOUT, REPLY, EXPIRES, REFRESH] = ['1', '4', '8', '15', '1'];

/** Where the service is, as Node-RED sees it, and its devices. */
export interface Target {
  service: Pick<Simulator, 'baseUrl' | 'appid' | 'appkey' | 'serverKey' | 'serverPassword'>;
  /** The devices whose uploads count. */
  chipids: readonly string[];
  /** Devices that come and go, reply, and get commands. */
  peers: readonly string[];
}

/** How the listener of the soak is set. */
export interface ListenerSettings {
  recover: 'reconnect' | 'restart';
  datatype: 'auto-detect' | 'utf8';
}

const byId = { property: 'id', equals: 'payload.id', equalsType: 'msg' } as const;

/** A listener; requests and commands that wait; events of presence. */
function flows({ service, chipids, peers }: Target, listener: ListenerSettings): FlowNode[] {
  const place = { z: 'tab', x: 100, y: 100, name: '' };
  const noted = { ...place, wires: [['note']] };
  const listen = node('listen', { chipids: [...chipids], ...listener });
  const request = node('request', { ...byId, timeout: TIMEOUT, replyTimeout: REPLY });
  const held = node('push', { when: 'upload', expires: EXPIRES, timeout: TIMEOUT });
  const begin = listener.recover === 'restart' ? 'current' : 'none';
  const events = node('events', { refresh: REFRESH, start: begin });
  // Of the others only the list of devices tells who comes and goes.
  const asked = peers.filter((_, index) => index % 2 === 0);
  const own: FlowNode[] = [
    { id: 'record', type: TYPES.record, wires: [] },
    { id: 'drive', type: TYPES.drive, peers: asked, wires: [['request'], ['held']] },
    { id: 'note', type: TYPES.note, wires: [] },
  ];
  return [
    { id: 'tab', type: 'tab', label: 'soak', disabled: false },
    app(service, { ping: PING }),
    { type: '', ...listen, ...place, id: 'listen', wires: [['record']] },
    { type: '', ...request, ...noted, id: 'request' },
    { type: '', ...held, ...noted, id: 'held' },
    { type: '', ...events, ...noted, id: 'events' },
    { id: 'catch', type: 'catch', scope: ['request', 'held'], uncaught: false, ...noted },
    ...own.map((each) => ({ ...place, ...each })),
  ];
}

/** Node-RED wants a module and a page for the types of the soak's own. */
function writeNodes(files: Files): void {
  const folder = join(files.userDir, 'nodes');
  const module = JSON.stringify(join(__dirname, 'nodes.js'));
  const register = `require(${module}).register(RED, ${JSON.stringify(files)})`;
  const types = Object.values(TYPES).map(
    (type) => `RED.nodes.registerType('${type}', { category: 'soak', defaults: {} });`,
  );
  mkdirSync(folder);
  writeFileSync(join(folder, 'soak.js'), `module.exports = (RED) => ${register};`);
  writeFileSync(
    join(folder, 'soak.html'),
    `<script type="text/javascript">${types.join('\n')}</script>`,
  );
}

/** Makes the user folder of a Node-RED with the package and the flow of the soak in it. */
export function prepareUserDir(files: Files, target: Target, listener: ListenerSettings): void {
  const { userDir } = files;
  makeUserDir(userDir);
  const { appkey } = target.service;
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flows(target, listener)));
  writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ app: { appkey } }));
  writeNodes(files);
}

/** The positions that the listen node has saved, by chip number. */
export function savedPositions(userDir: string): Record<string, Position> {
  try {
    const file = join(userDir, 'device-cloud', 'app', 'position.json');
    const { entries } = JSON.parse(readFileSync(file, 'utf8')) as {
      entries: Record<string, Position>;
    };
    const own = Object.entries(entries).filter(([key]) => key.split(':')[1] === 'listen');
    return Object.fromEntries(own.map(([key, position]) => [key.split(':')[2], position]));
  } catch {
    return {};
  }
}

/** Starts Node-RED in such a user folder. */
export const startNodeRed = (userDir: string): Promise<NodeRedProcess> =>
  start({ userDir, settings: { httpAdminRoot: false } });
