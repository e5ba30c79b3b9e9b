import { join } from 'node:path';
import { node, type FlowNode } from '../tooling/node-red/nodes';
import type { NoteFiles } from './notes';

const DRIVE = 'soak-drive';
const NOTE = 'soak-note';

/** Seconds: short, so that much happens within the run. */
const [TIMEOUT, REPLY, EXPIRES, REFRESH] = ['4', '8', '15', '1'];

const byId = { property: 'id', equals: 'payload.id', equalsType: 'msg' } as const;

/** The part of the flow with presence, requests, and commands that wait. */
export function fleetFlow(peers: readonly string[], start: 'none' | 'current'): FlowNode[] {
  const noted = { wires: [['note']] };
  const request = node('request', { ...byId, timeout: TIMEOUT, replyTimeout: REPLY });
  const held = node('push', { when: 'upload', expires: EXPIRES, timeout: TIMEOUT });
  const events = node('events', { refresh: REFRESH, start });
  // Of the others only the list of devices tells who comes and goes.
  const asked = peers.filter((_, index) => index % 2 === 0);
  return [
    { id: 'drive', type: DRIVE, peers: asked, wires: [['request'], ['held']] },
    { type: '', ...request, ...noted, id: 'request' },
    { type: '', ...held, ...noted, id: 'held' },
    { type: '', ...events, ...noted, id: 'events' },
    { id: 'catch', type: 'catch', scope: ['request', 'held'], uncaught: false, ...noted },
    { id: 'note', type: NOTE, wires: [] },
  ];
}

const html = (type: string): string => `<script type="text/javascript">
RED.nodes.registerType('${type}', { category: 'soak', defaults: {} });
</script>`;

const code = (files: NoteFiles): string => `
const { createNoter, startDriver } = require(${JSON.stringify(join(__dirname, 'notes.js'))});
const files = ${JSON.stringify(files)};
module.exports = (RED) => {
  RED.nodes.registerType('${DRIVE}', function (config) {
    RED.nodes.createNode(this, config);
    const stop = startDriver(files, config.peers, (messages) => this.send(messages));
    this.on('close', stop);
  });
  RED.nodes.registerType('${NOTE}', function (config) {
    RED.nodes.createNode(this, config);
    const note = createNoter(files);
    this.on('input', (msg, send, done) => { note(msg); done(); });
  });
};`;

/** Node types of the soak's own, as files: one makes messages, one writes down their outcome. */
export const fleetNodes = (files: NoteFiles): [name: string, text: string][] => [
  [`${DRIVE}.js`, code(files)],
  [`${DRIVE}.html`, html(DRIVE) + html(NOTE)],
];
