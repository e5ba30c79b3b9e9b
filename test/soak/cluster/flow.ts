import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, node, type FlowNode } from '../../../tooling/node-red/nodes';
import { makeUserDir } from '../../../tooling/node-red/user-dir';
import { fleetFlow, fleetNodes } from '../fleet-flow';
import type { NoteFiles } from '../notes';
import type { ServiceAddress } from '../service-messages';

/** Where the files of one Node-RED are. */
export interface MemberFiles extends NoteFiles {
  userDir: string;
  /** What the listen node has emitted, or the work node, in this process. */
  records: string;
  /** What has been acknowledged. */
  acknowledged: string;
}

/** What all processes run. */
export interface FlowKind {
  /** The nodes on top of a listener: none, a work node with acknowledgement, or pushes and requests. */
  extra: 'none' | 'queue' | 'commands';
  /** How the engine is found; the processes of a flow without one do not share anything. */
  engine: 'url' | 'sentinels' | 'none';
  /** Seconds. */
  lease: number;
}

/** Variables of each process: its own way to the engine. */
export const URL_VARIABLE = 'SOAK_REDIS';
export const SENTINELS_VARIABLE = 'SOAK_SENTINELS';

const TAB = 'tab';
/** A node type of the soak's own, which writes messages down and passes them on. */
const RECORD = 'soak-record';

function clusterNode({ engine, lease }: FlowKind): FlowNode[] {
  if (engine === 'none') return [];
  const place =
    engine === 'url'
      ? { url: `\${${URL_VARIABLE}}` }
      : { url: '', sentinels: `\${${SENTINELS_VARIABLE}}`, master: 'primary' };
  const empty = { name: '', sentinels: '', master: '', tls: '' };
  return [{ id: 'cluster', type: 'device-cloud-cluster', ...empty, ...place, lease: `${lease}` }];
}

const recordNode = (id: string, file: string, ...wires: string[]): FlowNode => ({
  ...{ id, type: RECORD, file },
  wires: [wires],
});

/** A worker that takes a moment for each job, so that some are under way at any time. */
const queueNodes = (): FlowNode[] => [
  {
    ...{ id: 'work', type: 'device-cloud-work', name: '', app: 'app', acknowledge: 'ack' },
    ...{ inFlight: '16', redeliver: '60', attempts: '5', wires: [['record']] },
  },
  recordNode('record', 'records', 'moment'),
  {
    ...{ id: 'moment', type: 'delay', name: '', pauseType: 'random', timeout: '5' },
    ...{ timeoutUnits: 'seconds', rate: '1', nbRateUnits: '1', rateUnits: 'second' },
    ...{ randomFirst: '5', randomLast: '50', randomUnits: 'milliseconds', drop: false },
    ...{ allowrate: false, outputs: 1, wires: [['ack']] },
  },
  { id: 'ack', type: 'device-cloud-ack', name: '', app: 'app', wires: [['acknowledged']] },
  recordNode('acknowledged', 'acknowledged'),
];

function flows(service: ServiceAddress, kind: FlowKind): FlowNode[] {
  const place = { z: TAB, x: 100, y: 100, name: '' };
  const cluster = kind.engine === 'none' ? {} : { cluster: 'cluster' };
  const isQueue = kind.extra === 'queue';
  const listen: FlowNode = {
    ...{ id: 'listen', type: '', ...node('listen', { chipids: service.chipids }) },
    ...{ deliver: isQueue ? 'queue' : 'here', shard: '', wires: [isQueue ? [] : ['record']] },
  };
  const nodes = [
    listen,
    ...(isQueue ? queueNodes() : [recordNode('record', 'records')]),
    ...(kind.extra === 'commands' ? fleetFlow(service.peers, 'none') : []),
  ];
  return [
    { id: TAB, type: 'tab', label: 'soak', disabled: false },
    ...clusterNode(kind),
    { ...app(service), ...cluster },
    ...nodes.map((each) => ({ ...place, ...each })),
  ];
}

/** The text of the node that records; its file is one of those of its process. */
const recordCode = (files: MemberFiles): string => `
const { appendTo } = require(${JSON.stringify(join(__dirname, '..', 'lines.js'))});
const { recorded } = require(${JSON.stringify(join(__dirname, 'recorded.js'))});
const files = ${JSON.stringify(files)};
module.exports = (RED) => {
  RED.nodes.registerType('${RECORD}', function (config) {
    RED.nodes.createNode(this, config);
    const append = appendTo(files[config.file]);
    this.on('input', (msg, send, done) => { append(recorded(msg)); send(msg); done(); });
  });
};`;

const RECORD_HTML = `<script type="text/javascript">
RED.nodes.registerType('${RECORD}', { category: 'soak', defaults: {}, inputs: 1, outputs: 1 });
</script>`;

/** Makes the user folder of a Node-RED with the package and the flow in it. */
export function prepareMember(files: MemberFiles, service: ServiceAddress, kind: FlowKind): void {
  const { userDir, notes, go } = files;
  makeUserDir(userDir);
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flows(service, kind)));
  const credentials = { app: { appkey: service.appkey } };
  writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify(credentials));
  mkdirSync(join(userDir, 'nodes'));
  const types: [name: string, text: string][] = [
    [`${RECORD}.js`, recordCode(files)],
    [`${RECORD}.html`, RECORD_HTML],
    ...(kind.extra === 'commands' ? fleetNodes({ notes, go }) : []),
  ];
  for (const [name, text] of types) writeFileSync(join(userDir, 'nodes', name), text);
}
