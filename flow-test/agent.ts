/*
 * The process of the Node-RED under test. It opens no port and keeps its flows in memory; the runner deploys them, presses
 * buttons, and is told what the nodes do.
 */

import type { EventEmitter } from 'node:events';
import fs, { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { toJson } from './copy';
import { BLIND, MAX_SEEN, type Answer, type Command, type Report, type Start } from './protocol';

/** What is used of a running node. */
interface RunningNode extends EventEmitter {
  readonly id: string;
  readonly type: string;
  /** The id in the flow file of a node that was made of a subflow. */
  readonly _alias?: string;
  /** Who takes its messages: one, or several. */
  readonly _inputCallback?: unknown;
  readonly _inputCallbacks?: unknown;
  receive(msg: object): void;
  send(msg: object): void;
}

interface Context {
  keys(): string[];
  set(key: string, value: undefined): void;
}

/** The used part of Node-RED; its types leave out some of it. */
interface NodeRed {
  init(server: object, settings: object): void;
  start(): Promise<void>;
  readonly events: EventEmitter;
  readonly hooks: { add(name: string, run: (event: never) => void): void };
  readonly nodes: {
    registerType(type: string, constructor: (this: RunningNode, config: object) => void): void;
    createNode(node: RunningNode, config: object): void;
    getNode(id: string): RunningNode | null;
    getType(type: string): unknown;
    getNodeInfo(type: string): { readonly id: string } | undefined;
  };
  readonly runtime: { readonly flows: { setFlows(options: object): Promise<unknown> } };
}

const { nodeRed, userDir, excluded } = JSON.parse(process.argv.at(-1) ?? '{}') as Start;
const load = createRequire(join(nodeRed, 'package.json'));
const RED = load(nodeRed) as NodeRed;
const { i18n } = load('@node-red/util') as { i18n: { _(key: string): string } };

/** How many characters one test may report; the runner is told when there are more. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

const send = process.send?.bind(process);
/** A channel of its own: what runs in a flow need not find it. */
Reflect.deleteProperty(process, 'send');
const answer = (said: Answer): void => void send?.(said);

let test = 0;
let watched = new Set<string>();
let left = { reports: 0, characters: 0 };
const traffic = new Map<string, [received: number, sent: number]>();

const hasInput = (node: RunningNode): boolean =>
  Boolean(node._inputCallback ?? node._inputCallbacks);

const idOf = ({ id, _alias }: RunningNode): string => _alias ?? id;

function report(what: Report): void {
  if (left.reports < 0 || left.characters < 0) return;
  const said = --left.reports < 0 ? ({ kind: 'overflow', at: what.at } as const) : what;
  left.characters -= JSON.stringify(said).length;
  answer({ test, report: said });
}

function count(node: RunningNode, way: 0 | 1): void {
  const id = idOf(node);
  let both = traffic.get(id);
  if (!both) traffic.set(id, (both = [0, 0]));
  both[way]++;
}

/** The test that a node was made for. */
const madeFor = new WeakMap<RunningNode, number>();

/** Whether a node belongs to this test. Nodes of an earlier one still deliver messages, and end calls, after they were stopped. */
const isOfTest = (node: RunningNode): boolean => madeFor.get(node) === test;

function see(node: RunningNode, msg: unknown): void {
  const id = idOf(node);
  if (!watched.has(id) || left.reports < 0) return;
  report({ kind: 'message', at: Date.now(), node: id, msg: toJson(msg) });
}

/** A message that arrives or, at a node without an input, leaves it. */
function observe(): void {
  RED.hooks.add('onReceive.flow-test', (event: never) => {
    const { msg, destination } = event as { msg: unknown; destination: { node: RunningNode } };
    if (!isOfTest(destination.node)) return;
    count(destination.node, 0);
    see(destination.node, msg);
  });
  RED.hooks.add('onSend.flow-test', (events: never) => {
    const sent = events as readonly { msg: unknown; source: { node: RunningNode } }[];
    const seen = new Set<unknown>();
    for (const { msg, source } of sent) {
      // One message on several wires is one message.
      if (seen.has(msg) || !isOfTest(source.node)) continue;
      seen.add(msg);
      count(source.node, 1);
      if (!hasInput(source.node)) see(source.node, msg);
    }
  });
  RED.events.on('node-status', ({ id, status }: { id: string; status: unknown }) => {
    const node = RED.nodes.getNode(id);
    if (!node) return;
    report({
      kind: 'status',
      at: Date.now(),
      node: idOf(node),
      status: toJson(translated(node, status)),
    });
  });
  // Hooks see the errors of messages alone, and only of nodes that say when they are done.
  const { prototype } = load('@node-red/runtime/lib/nodes/Node') as {
    prototype: {
      error(this: RunningNode, error: unknown, msg?: unknown): void;
      updateWires(this: RunningNode, wires: unknown): void;
    };
  };
  const { error: original, updateWires } = prototype;
  // Each node calls it when it is made.
  prototype.updateWires = function (wires) {
    madeFor.set(this, test);
    updateWires.call(this, wires);
  };
  prototype.error = function (error, msg) {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown };
    if (isOfTest(this))
      report({
        kind: 'error',
        at: Date.now(),
        node: idOf(this),
        ...(typeof code === 'string' ? { code } : {}),
        message: String(message ?? error).slice(0, 1000),
      });
    original.call(this, error, msg);
  };
}

/** A status in the words that the editor shows: nodes send keys of their catalogue. */
function translated(node: RunningNode, status: unknown): unknown {
  const { text } = Object(status) as { text?: unknown };
  if (typeof text !== 'string' || !/^[@a-z][\w@/.:-]*$/i.test(text)) return status;
  const key = text.includes(':') ? text : `${RED.nodes.getNodeInfo(node.type)?.id ?? ''}:${text}`;
  const words = i18n._(key);
  return { ...(status as object), text: words === key || key.endsWith(`:${words}`) ? text : words };
}

async function setFlows(flows: readonly object[]): Promise<void> {
  const started = new Promise((resolve) => RED.events.once('flows:started', resolve));
  await RED.runtime.flows.setFlows({ flows: { flows }, deploymentType: 'full' });
  await started;
}

async function deploy(command: Command & { do: 'deploy' }): Promise<void> {
  const { flows } = command;
  const missing = flows.find(
    ({ type }) => !/^(tab|group|subflow(:.*)?)$/.test(type) && !RED.nodes.getType(type),
  );
  // Node-RED would wait for it.
  if (missing) throw new Error(`There is no node "${missing.type}" installed.`);
  watched = new Set();
  await setFlows([]);
  // The context of nodes and flows goes with them.
  const { get } = load('@node-red/runtime/lib/nodes/context') as { get(id: string): Context };
  const global = get('global');
  for (const key of global.keys()) global.set(key, undefined);
  rmSync(join(userDir, 'device-cloud'), { recursive: true, force: true });
  ({ test } = command);
  watched = new Set(command.watched);
  left = { reports: MAX_SEEN, characters: MAX_CHARACTERS };
  traffic.clear();
  await setFlows(flows);
}

function inject({ node: id, msg }: Command & { do: 'inject' }): void {
  const node = RED.nodes.getNode(id);
  if (!node) throw new Error('does not run: it, or what it is in, is disabled');
  if (msg && (node.type === BLIND || !hasInput(node))) node.send(msg);
  else node.receive(msg ?? {});
}

async function obey(command: Command): Promise<void> {
  const { id } = command;
  try {
    if (command.do === 'deploy') await deploy(command);
    if (command.do === 'inject') inject(command);
    answer({ id, traffic: Object.fromEntries(traffic) });
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

/** Node-RED's files are never written: a test begins with none, and leaves none. */
const NO_STORAGE = {
  init: () => Promise.resolve(),
  getFlows: () => Promise.resolve([]),
  saveFlows: () => Promise.resolve(),
  getCredentials: () => Promise.resolve({}),
  saveCredentials: () => Promise.resolve(),
  getSettings: () => Promise.resolve({}),
  saveSettings: () => Promise.resolve(),
  getSessions: () => Promise.resolve({}),
  saveSessions: () => Promise.resolve(),
  getLibraryEntry: () => Promise.resolve([]),
  saveLibraryEntry: () => Promise.resolve(),
};

/** Under its permission model Node.js refuses to flush files to disk, which a test has no need of. */
async function neverSync(): Promise<void> {
  const own = join(userDir, 'package.json');
  const file = await fs.promises.open(own);
  const done = (): Promise<void> => Promise.resolve();
  Object.assign(Object.getPrototypeOf(file) as object, { sync: done, datasync: done });
  await file.close();
  const callBack = (_file: number, callback: () => void): void => process.nextTick(callback);
  Object.assign(fs, { fsync: callBack, fdatasync: callBack, fsyncSync: () => undefined });
}

async function start(): Promise<void> {
  await neverSync();
  RED.init(createServer(), {
    userDir,
    fileWorkingDirectory: userDir,
    storageModule: NO_STORAGE,
    httpAdminRoot: false,
    httpNodeRoot: false,
    functionExternalModules: false,
    functionGlobalContext: {},
    externalModules: {
      autoInstall: false,
      palette: { allowInstall: false, allowUpdate: false, allowUpload: false },
      modules: { allowInstall: false },
    },
    credentialSecret: false,
    telemetry: { enabled: false },
    lang: 'en-US',
    nodesExcludes: excluded,
    logging: { console: { level: 'info', metrics: false, audit: false } },
  });
  RED.nodes.registerType(BLIND, function (config) {
    RED.nodes.createNode(this, config);
    this.on('input', (_msg: unknown, _send: unknown, done: () => void) => done());
  });
  const started = new Promise((resolve) => RED.events.once('flows:started', resolve));
  await RED.start();
  await started;
  observe();
}

const crash = (error: unknown): void => {
  console.error(error);
  process.exit(1);
};
process.on('uncaughtException', crash);
process.once('disconnect', () => process.exit(1));
// Commands wait for each other.
let last = start();
last.then(() => answer({ started: true }), crash);
process.on('message', (command: Command) => {
  last = last.then(() => obey(command)).catch(crash);
});
