/*
 * Which nodes run in a test. What is not listed here, is neither of this package nor named by `--allow`, is replaced by a
 * node that does nothing.
 */

/** Core nodes that reach neither a network nor a file nor a process. */
const CORE: readonly string[] = [
  ...['tab', 'subflow', 'group', 'comment', 'junction', 'global-config'],
  ...['inject', 'debug', 'complete', 'catch', 'status', 'link in', 'link out', 'link call'],
  ...['function', 'switch', 'change', 'range', 'template', 'delay', 'trigger', 'rbe'],
  ...['split', 'join', 'sort', 'batch'],
  ...['csv', 'html', 'json', 'xml', 'yaml'],
];

/** Core nodes that reach outside, by the file of Node-RED that has them, which is loaded only if one is allowed. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  '90-exec.js': ['exec'],
  '05-tls.js': ['tls-config'],
  '06-httpproxy.js': ['http proxy'],
  '10-mqtt.js': ['mqtt in', 'mqtt out', 'mqtt-broker'],
  '21-httpin.js': ['http in', 'http response'],
  '21-httprequest.js': ['http request'],
  '22-websocket.js': ['websocket in', 'websocket out', 'websocket-listener', 'websocket-client'],
  '31-tcpin.js': ['tcp in', 'tcp out', 'tcp request'],
  '32-udp.js': ['udp in', 'udp out'],
  '10-file.js': ['file', 'file in'],
  '23-watch.js': ['watch'],
};

/** These reach the folder of the test, which every node may write to, and no network. */
const FILES: readonly string[] = ['file', 'file in', 'watch'];

const OWN = /^device-cloud-/;
/** It connects to Redis. An application without one has its devices to itself, as in a test. */
const CLUSTER = 'device-cloud-cluster';

const OUTSIDE_TYPES = Object.values(OUTSIDE).flat();

/** Whether a type is neither of Node-RED nor of this package. */
export const isContributed = (type: string): boolean =>
  ![...CORE, ...OUTSIDE_TYPES].includes(type) && !OWN.test(type);

/** What `--allow` asks for. */
export interface Allowed {
  /** Whether a node of this type runs. */
  runs(type: string): boolean;
  /** Files of core nodes that are not loaded. */
  readonly excluded: readonly string[];
  /** Whether nodes may connect to anything, which those from outside need. */
  readonly network: boolean;
  /** Whether processes may be started. */
  readonly processes: boolean;
  /** Whether packages of the user directory are loaded. */
  readonly packages: boolean;
}

/** @param types of nodes that run although they reach outside */
export function allow(types: readonly string[]): Allowed {
  return {
    runs: (type) =>
      CORE.includes(type) ||
      types.includes(type) ||
      (OWN.test(type) && type !== CLUSTER) ||
      type.startsWith('subflow:'),
    excluded: Object.entries(OUTSIDE)
      .filter(([, provided]) => !provided.some((type) => types.includes(type)))
      .map(([file]) => file),
    network: types.some((type) => !CORE.includes(type) && !FILES.includes(type)),
    processes: types.includes('exec'),
    packages: types.some(isContributed),
  };
}
