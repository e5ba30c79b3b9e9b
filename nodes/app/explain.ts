import { setTimeout as sleep } from 'node:timers/promises';
import type { Node, NodeAPI } from 'node-red';
import {
  DeviceCloudClient,
  DeviceCloudError,
  type ExplainedArguments,
  type ExplainedCall,
  type Explanation,
  type ExplainWarning,
} from '../../src/for-nodes';
import { invalidInput, notConfigured, parseChipid, parseChipids } from '../../src/input';
import type { Action, ActionNode, Plan } from '../common/action';
import { auditedRoute, bodyOf } from '../common/admin';
import { findApp, type Api } from '../common/app';
import { argumentsOf, devicesOf, isForMany } from '../common/device-call';
import { DeviceTypes } from '../common/device-types';
import { messageOf } from '../common/errors';
import { inputReader, type ReadInputs } from '../common/inputs';
import type { Handler } from '../common/register';
import {
  isObject,
  isVariable,
  withDefaults,
  type ExplainedFailure,
  type TypedConfig,
} from '../common/shared.config';
import { addressHider, deployedCredentials, findDeployed } from './deployed';
import { clientOptions } from './options';

/** An action with any properties: a request may send values of any type. */
type AnyAction = Action<Record<string, unknown>, string>;

/** Finds the action of a node that sends a request for each message. Its run time need not be loaded yet. */
async function findAction(type: unknown): Promise<AnyAction> {
  const [, name] = /^device-cloud-([a-z-]{1,40})$/.exec(String(type)) ?? [];
  const path = `../${name}/${name}.runtime.js`;
  const found = (await import(path).catch(() => ({}))) as { action?: AnyAction };
  if (name !== undefined && found.action?.plan) return found.action;
  throw invalidInput('The type of the node is not one that sends a request for each message.');
}

/** A note on a node's request, besides the client's on the call. Its text is in the catalogue. */
interface NodeNote {
  code: 'placeholder' | 'many' | 'pulse' | 'simulator' | NonNullable<Plan['note']>;
  values?: Readonly<Record<string, string | number>>;
}

/** The answer of the route. */
export interface NodeExplanation extends Omit<Explanation, 'warnings'> {
  warnings: (ExplainWarning | NodeNote)[];
  /** If the last call of the deployed node has failed. */
  failure?: ExplainedFailure;
}

const placeholderNote = (property: string, value: unknown): NodeNote => ({
  code: 'placeholder',
  values: { property, value: typeof value === 'string' ? value : JSON.stringify(value) },
});

interface ExplainRequest {
  /** Id of the deployed config node. */
  id: string;
  type: string;
  action: AnyAction;
  /** The node's properties as typed, its id among them. */
  config: Record<string, unknown>;
  msg: Record<string, unknown>;
}

/** Characters of a property, and of the message as JSON. The longest properties are messages typed by hand. */
const LONGEST = 65_536;
const MOST_PROPERTIES = 100;

function readConfig(node: Record<string, unknown>, action: AnyAction): ExplainRequest['config'] {
  const entries = Object.entries(node);
  if (entries.length > MOST_PROPERTIES)
    throw invalidInput(`The node has more than ${MOST_PROPERTIES} properties.`);
  const tooLong = entries.find(([, value]) => String(value).length > LONGEST);
  if (tooLong)
    throw invalidInput(
      `A property is longer than ${LONGEST} characters: ${tooLong[0].slice(0, 40)}`,
    );
  // What is made of several values, such as `wires`, is not needed for a call.
  const plain = entries.filter(([, value]) => typeof value !== 'object');
  return withDefaults(Object.fromEntries(plain), action.defaults);
}

function readMsg(value: unknown = {}): Record<string, unknown> {
  if (!isObject(value)) throw invalidInput('The message has to be a JSON object.');
  if (JSON.stringify(value).length <= LONGEST) return value;
  throw invalidInput(`The message is longer than ${LONGEST} characters as JSON.`);
}

/**
 * Reads the body of a request for an explanation, which may come from anyone who is logged in.
 * @param body as parsed by Node-RED, `undefined` if it is not JSON
 * @throws DeviceCloudError `INVALID_INPUT`
 */
async function readExplainRequest(body: unknown): Promise<ExplainRequest> {
  const { id, node, msg } = bodyOf(body, 'id, node and msg as a JSON object');
  if (typeof id !== 'string' || id.length > 100)
    throw invalidInput('The id must be that of the configuration of an application.');
  if (!isObject(node)) throw invalidInput('The node must be an object with its properties.');
  const { type } = node;
  const action = await findAction(type);
  return { id, type: String(type), action, config: readConfig(node, action), msg: readMsg(msg) };
}

/** Types whose values are in the node or the message itself. */
const PLAIN_TYPES = ['msg', 'str', 'num', 'bool', 'json', 'bin', 'date', 'group'];

/** Milliseconds to wait for a value: a context store may never answer. */
const PATIENCE = 10_000;

/** The placeholders of values that are not read, so that the rest can be explained. */
const PLACEHOLDERS: Readonly<Record<string, unknown>> = {
  ...{ chipid: 0, pin: 0, level: 0, begin: '20000101', end: '20000101', deviceid: 'DEVICEID' },
  ...{ body: { body: '<body>' }, query: { query: '<query>' } },
};

function placeholderOf(name: string, format: unknown): unknown {
  if (name === 'message' && format === 'HEX') return '00';
  if (name === 'message' && format === 'B64') return 'AA==';
  return PLACEHOLDERS[name] ?? `<${name}>`;
}

async function within<T>(work: T | Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(PATIENCE, undefined, { signal: over.signal }).then(() => {
    throw new DeviceCloudError('TIMEOUT', 'A context store has not answered in time.');
  });
  return Promise.race([work, late]).finally(() => over.abort());
}

/**
 * Reads the inputs of a node as its run time does. Environment variables, contexts and expressions are
 * read only for a user who may change flows; for others placeholders are used instead.
 * @throws DeviceCloudError as the node's run time does
 */
async function explainedInputs(
  RED: NodeAPI,
  { id, type, action, config, msg }: ExplainRequest,
  mayWrite: () => Promise<boolean>,
): Promise<{ inputs: Record<string, unknown>; notes: NodeNote[] }> {
  // Values belong to the deployed node; a new one has no flow yet.
  const own = RED.nodes.getNode(String(config['id'])) as Node | null;
  const isOwn = own?.type === type;
  const node = isOwn ? own : RED.nodes.getNode(id);
  const saved = { ...config };
  const names: string[] = [];
  const placeholders: Record<string, unknown> = {};
  for (const name of action.inputs(config)) {
    const inputType = String(config[`${name}Type`]);
    const isNamed = isVariable(config[name]);
    const isPlain = PLAIN_TYPES.includes(inputType) && !isNamed;
    if (!isPlain && ((inputType === 'flow' && !isOwn) || !(await mayWrite()))) {
      const format = config['format'] === 'msg' ? msg['format'] : config['format'];
      placeholders[name] = placeholderOf(name, format);
      continue;
    }
    names.push(name);
    if (!isNamed) continue;
    // Node-RED replaces it when it starts a flow, whatever the type.
    const value = String(config[name]);
    const found = RED.util.evaluateNodeProperty(value, 'env', node, {}) as unknown;
    if (found !== undefined && found !== '') saved[name] = found;
  }
  let read: ReadInputs<string>;
  try {
    read = inputReader(RED, node, names, saved);
  } catch (error) {
    throw notConfigured(messageOf(error));
  }
  const inputs = await within(read({ _msgid: '', ...msg }));
  const notes = Object.entries(placeholders).map((entry) => placeholderNote(...entry));
  return { inputs: { ...inputs, ...placeholders }, notes };
}

/** The placeholder of a setting that is given by a variable, for users who may not read it. */
const SETTINGS = { baseUrl: 'https://base-url.invalid', appid: '0' } as const;

/** The client of an application, or another one with placeholders for what the user may not see. */
async function useClient<T>(
  RED: NodeAPI,
  id: string,
  api: Api,
  mayWrite: () => Promise<boolean>,
  use: (client: DeviceCloudClient, notes: NodeNote[]) => T,
): Promise<T> {
  const deployed = findDeployed(RED, id);
  const isSimulator = deployed?.saved.service === 'simulator';
  const hidden = (['baseUrl', 'appid'] as const).filter((name) =>
    isVariable(deployed?.saved[name]),
  );
  if (!deployed || isSimulator || hidden.length === 0 || (await mayWrite())) {
    const notes: NodeNote[] = isSimulator ? [{ code: 'simulator' }] : [];
    return findApp(RED, id).borrow(api, (client) => Promise.resolve(use(client, notes)));
  }
  const { saved, node } = deployed;
  const placeholders = Object.fromEntries(hidden.map((name) => [name, SETTINGS[name]]));
  const credentials = deployedCredentials(RED, deployed);
  const { options } = clientOptions(RED, node, { ...saved, ...placeholders, credentials });
  await using client = new DeviceCloudClient(options);
  const notes = hidden.map((name) => placeholderNote(name, SETTINGS[name]));
  return use(client, notes);
}

function firstDevice(
  client: DeviceCloudClient,
  plan: Plan,
  config: object,
  notes: NodeNote[],
): unknown[] {
  if (!('device' in plan)) return [];
  const device = devicesOf(client, config, plan.device);
  if (!isForMany(config, device) || !Array.isArray(device)) return [device];
  const chipids = new Set(parseChipids(device));
  const [first] = chipids;
  if (first === undefined)
    throw invalidInput('The array of chip numbers is empty: nothing is sent.');
  const { size: count } = chipids;
  if (count > 1) notes.push({ code: 'many', values: { count } });
  return [first];
}

function explainPlan(
  client: DeviceCloudClient,
  plan: Plan,
  config: object,
  notes: NodeNote[],
): Explanation {
  const explain = (call: ExplainedCall, ...args: unknown[]): Explanation =>
    client.explain(call, ...(args as ExplainedArguments<typeof call>));
  const { call, options, note } = plan;
  const device = firstDevice(client, plan, config, notes);
  const args = argumentsOf(plan, plan.argsOf ? device.map(parseChipid) : [], client);
  if (note) notes.push({ code: note });
  const explanation = explain(call, ...device, ...args, options);
  if (call === 'pulseGpio') {
    const opposite = explanation.path.endsWith('/1/') ? 'low' : 'high';
    const { path } = explain('setGpioEdge', ...device, args[0], opposite);
    notes.push({ code: 'pulse', values: { duration: options?.duration ?? 0, path } });
  }
  return explanation;
}

/** What the service said, as the messages of errors repeat it. */
const SAID = /\b(?:failed:|says:?|said:?) "(.+?)"(?=[.;, ]|$)/s;

/** The failure of the last call of the deployed node, if it has failed. @param hide removes addresses */
function failureOf(
  RED: NodeAPI,
  { type, config }: ExplainRequest,
  { clockSkew }: Pick<DeviceCloudClient, 'clockSkew'>,
  hide: (message: string) => string,
): { failure?: ExplainedFailure } {
  const node = RED.nodes.getNode(String(config['id'])) as ActionNode | null;
  const last = node?.type === type ? node.lastFailure : undefined;
  if (!last) return {};
  const { code, statusCode, at } = last;
  const message = hide(last.message);
  const said = SAID.exec(message)?.[1];
  return {
    failure: {
      ...{ code, message, age: Math.max(0, Date.now() - at) },
      ...(said === undefined ? {} : { said }),
      ...(statusCode === undefined ? {} : { statusCode }),
      ...(clockSkew === undefined ? {} : { clockSkew: Math.round(clockSkew / 1000) }),
    },
  };
}

/**
 * Explains what a node would send for a message, without a request to the service.
 * @param mayWrite whether the user may change flows; called only if the answer matters
 * @throws DeviceCloudError as the node itself does for its properties and the message
 */
async function explainNode(
  RED: NodeAPI,
  request: ExplainRequest,
  mayWrite: () => Promise<boolean>,
): Promise<NodeExplanation> {
  const { id, action, config, msg } = request;
  const problem = findApp(RED, id).problem(action.api);
  if (problem) throw problem;
  const { inputs, notes } = await explainedInputs(RED, request, mayWrite);
  const hide = await addressHider(RED, id, mayWrite);
  return useClient(RED, id, action.api, mayWrite, (client, clientNotes) => {
    const all = [...clientNotes, ...notes];
    const types = new DeviceTypes(RED, (config as Partial<TypedConfig>).deviceType);
    const plan = action.plan?.({ config, inputs, msg, types });
    if (!plan) throw invalidInput('The node sends nothing.');
    const explanation = explainPlan(client, plan, config, all);
    const warnings = [...explanation.warnings, ...all];
    return { ...explanation, warnings, ...failureOf(RED, request, client, hide) };
  });
}

/** Explains what a node would send. It sends nothing to the service. */
export const explainRoute = (RED: NodeAPI): Handler =>
  auditedRoute(RED, {
    event: 'apps.explain',
    read: readExplainRequest,
    audited: ({ id, type }) => ({ id, type }),
    answer: (request, mayWrite) => explainNode(RED, request, mayWrite),
    failure: (error) => [error instanceof DeviceCloudError ? 400 : 500],
  });
