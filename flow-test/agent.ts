/*
 * The process of the Node-RED under test. It opens no port and keeps its flows in memory; the runner deploys them, presses
 * buttons, and is told what the nodes do.
 */

import type { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isNativeError } from 'node:util/types';
import { Worker } from 'node:worker_threads';
import { DISABLED, MAX_SEEN, PIPE, type Answer, type Command, type Report } from './protocol';

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

type Context = Pick<Map<string, undefined>, 'keys' | 'set'>;

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

const [nodeRed = '', userDir = ''] = process.argv.splice(2);
const load = createRequire(join(nodeRed, 'package.json'));
const RED = load(nodeRed) as NodeRed;
const { i18n } = load('@node-red/util') as { i18n: { _(key: string): string } };

/** The maximum length of what one test reports, in characters. Beyond it, only the runner's message says that it was too long. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** The characters that a report counts as, even if it is shorter. */
const LEAST = MAX_CHARACTERS / MAX_SEEN;
/** Characters of a property of a message as JSON, and of a longer one those that are kept. */
const MAX_PROPERTY = 1024 * 1024;
const CUT_TO = 64 * 1024;

const pipe = new Socket({ fd: PIPE, writable: true });
const answer = (said: Answer): void => void pipe.write(`${JSON.stringify(said)}\n`);

/** Counts deploys: a test is one, and its end another. */
let test = 0;
let watched = new Set<string>();
let left = 0;

const hasInput = (node: RunningNode): boolean =>
  Boolean(node._inputCallback ?? node._inputCallbacks);

const idOf = ({ id, _alias }: RunningNode): string => _alias ?? id;

/** The test that a node was made for. */
const madeFor = new WeakMap<RunningNode, number>();

/** Whether a node belongs to this test. Nodes of an earlier one still deliver messages, and end calls, after they were stopped. */
const isOfTest = (node: RunningNode): boolean => madeFor.get(node) === test;

function report(what: Report): void {
  if (left < 0) return;
  left -= Math.max(JSON.stringify(what).length, LEAST);
  answer({ report: left < 0 ? { kind: 'overflow', at: what.at } : what });
}

/** The text of bytes, with enough of it to be cut if it is long: a character has at most four bytes. */
const textOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('utf8', 0, 4 * MAX_PROPERTY);

/** Bytes become their text, as which they are compared, and errors and odd numbers what they say. */
function replaced(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Readonly<Record<string, unknown>>)[key];
  if (original instanceof Uint8Array) return textOf(original);
  if (isNativeError(original))
    return { ...original, name: original.name, message: original.message };
  const isOdd =
    typeof original === 'bigint' || (typeof original === 'number' && !Number.isFinite(original));
  return isOdd ? String(original) : value;
}

function propertyToJson(value: unknown): unknown {
  // JSON.stringify would make an array of numbers of a Buffer first, which takes many times its memory.
  const plain = value instanceof Uint8Array ? textOf(value) : value;
  try {
    const json = JSON.stringify(plain, replaced) as string | undefined;
    if (json === undefined) return undefined;
    return json.length > MAX_PROPERTY ? `${json.slice(0, CUT_TO)}…` : JSON.parse(json);
  } catch {
    return '[circular]';
  }
}

/** A copy of a message or a status that JSON can hold, of a limited size. What has no place in JSON is left out or described. */
function toJson(value: unknown): object {
  const properties = Object.entries(Object(value) as object);
  return Object.fromEntries(properties.map(([name, each]) => [name, propertyToJson(each)]));
}

function see(node: RunningNode, msg: unknown): void {
  const id = idOf(node);
  if (isOfTest(node) && watched.has(id))
    report({ kind: 'message', at: Date.now(), node: id, msg: toJson(msg) });
}

/** Messages that arrive or, at a node without an input, leave it; statuses; and errors. */
function observe(): void {
  RED.hooks.add('onReceive.flow-test', (event: never) => {
    const { msg, destination } = event as { msg: unknown; destination: { node: RunningNode } };
    see(destination.node, msg);
  });
  RED.hooks.add('onSend.flow-test', (events: never) => {
    const sent = events as readonly { msg: unknown; source: { node: RunningNode } }[];
    const seen = new Set<unknown>();
    for (const { msg, source } of sent) {
      // One message on several wires is one message.
      if (seen.has(msg) || hasInput(source.node)) continue;
      seen.add(msg);
      see(source.node, msg);
    }
  });
  RED.events.on('node-status', ({ id, status }: { id: string; status: unknown }) => {
    const node = RED.nodes.getNode(id);
    if (!node) return;
    const shown = toJson(translated(node, status));
    report({ kind: 'status', at: Date.now(), node: idOf(node), status: shown });
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
    const said = {
      ...(typeof code === 'string' ? { code } : {}),
      message: String(message ?? error).slice(0, 1000),
    };
    if (isOfTest(this)) report({ kind: 'error', at: Date.now(), node: idOf(this), ...said });
    original.call(this, error, msg);
  };
}

/** A status in the words that the editor shows: nodes send keys of their catalogue. */
function translated(node: RunningNode, status: unknown): unknown {
  const { text } = Object(status) as { text?: unknown };
  if (typeof text !== 'string' || !/^[@a-z][\w@/.:-]*$/i.test(text)) return status;
  const path = text.includes(':') ? text : `${RED.nodes.getNodeInfo(node.type)?.id ?? ''}:${text}`;
  const words = i18n._(path);
  const isMissing = words === path || path.endsWith(`:${words}`);
  return { ...(status as object), text: isMissing ? text : words };
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
  for (const name of global.keys()) global.set(name, undefined);
  rmSync(join(userDir, 'device-cloud'), { recursive: true, force: true });
  test++;
  watched = new Set(command.watched);
  left = MAX_CHARACTERS;
  await setFlows(flows);
}

function inject({ node: id, msg }: Command & { do: 'inject' }): void {
  const node = RED.nodes.getNode(id);
  if (!node) throw new Error('does not run: it, or what it is in, is disabled');
  if (msg && (node.type === DISABLED || !hasInput(node))) node.send(msg);
  else node.receive(msg ?? {});
}

async function obey(command: Command): Promise<void> {
  const { id } = command;
  try {
    if (command.do === 'deploy') await deploy(command);
    if (command.do === 'inject') inject(command);
    answer({ id });
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

async function start(): Promise<void> {
  RED.init(createServer(), {
    userDir,
    fileWorkingDirectory: userDir,
    // This package.
    nodesDir: [join(__dirname, '..', '..')],
    // A test begins with no files, and leaves none.
    readOnly: true,
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
    logging: { console: { level: 'info', metrics: false, audit: false } },
  });
  RED.nodes.registerType(DISABLED, function (config) {
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
new Worker(join(__dirname, 'watchdog.js')).unref();
// Commands wait for each other.
let last = start().then(() => answer({ id: 0 }));
last.catch(crash);
createInterface({ input: process.stdin })
  .on('line', (line) => {
    last = last.then(() => obey(JSON.parse(line) as Command)).catch(crash);
  })
  .on('close', () => process.exit(1));
