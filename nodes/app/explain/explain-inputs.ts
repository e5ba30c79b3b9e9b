import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError } from '../../../src/index';
import { messageOf } from '../../common/errors';
import { inputReader, type InputTable, type ReadInputs } from '../../common/inputs';
import { isVariable } from '../../common/values';
import { placeholderNote, type NodeNote } from './explain-notes';
import type { ExplainRequest } from './explain-request';

/** Types whose values are in the node or the message itself. */
const PLAIN_TYPES = ['msg', 'str', 'num', 'bool', 'json', 'bin', 'date'];

/** Milliseconds to wait for a value: a context store may never answer. */
const PATIENCE = 10_000;

/** The placeholder of a value that is not read, so that the rest can be explained. */
function placeholderOf(name: string, format: unknown): string | number | object {
  switch (name) {
    case 'chipid':
    case 'pin':
    case 'level':
      return 0;
    case 'begin':
    case 'end':
      return '20000101';
    case 'deviceid':
      return 'DEVICEID';
    case 'body':
    case 'query':
      return { [name]: `<${name}>` };
    case 'message':
      if (format === 'HEX') return '00';
      return format === 'B64' ? 'AA==' : '<message>';
    default:
      return `<${name}>`;
  }
}

const showPlaceholder = (value: string | number | object): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The node that values belong to: the deployed one; a new one has no flow yet. */
function ownerOf(
  RED: NodeAPI,
  { id, type, config }: ExplainRequest,
): { node: Node; isOwn: boolean } {
  const ownId = typeof config['id'] === 'string' ? config['id'] : '';
  const own = RED.nodes.getNode(ownId) as Node | null;
  return own?.type === type
    ? { node: own, isOwn: true }
    : { node: RED.nodes.getNode(id), isOwn: false };
}

async function within<T>(work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = 'A context store has not answered in time.';
      reject(new DeviceCloudError('TIMEOUT', message));
    }, PATIENCE);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The inputs of a node: those to read, with the properties to read them by, and placeholders for the others. */
interface Sorted {
  table: Record<string, InputTable<string>[string]>;
  saved: Record<string, unknown>;
  placeholders: Record<string, string | number | object>;
}

async function sortInputs(
  RED: NodeAPI,
  { kind, config, msg }: ExplainRequest,
  { node, isOwn }: ReturnType<typeof ownerOf>,
  mayWriteFlows: () => Promise<boolean>,
): Promise<Sorted> {
  const sorted: Sorted = { table: {}, saved: { ...config }, placeholders: {} };
  const format = config['format'] === 'msg' ? msg['format'] : config['format'];
  for (const [name, entry] of Object.entries(kind.inputs(config))) {
    if (!entry) continue;
    const [usualValue, usualType] = entry;
    const value = config[name] ?? usualValue;
    const type = String(config[`${name}Type`] ?? usualType);
    const isNamed = isVariable(value);
    const isPlain = PLAIN_TYPES.includes(type) && !isNamed;
    if (!isPlain && ((type === 'flow' && !isOwn) || !(await mayWriteFlows()))) {
      sorted.placeholders[name] = placeholderOf(name, format);
      continue;
    }
    sorted.table[name] = entry;
    if (!isNamed) continue;
    // Node-RED replaces it when it starts a flow, whatever the type.
    const found = RED.util.evaluateNodeProperty(String(value), 'env', node, {}) as unknown;
    if (found !== undefined && found !== '') sorted.saved[name] = found;
  }
  return sorted;
}

/**
 * Reads the inputs of a node as its run time does. Environment variables, contexts and expressions are
 * read only for a user who may change flows; for others placeholders are used instead.
 * @param mayWriteFlows called only if the answer matters
 * @throws DeviceCloudError as the node's run time does
 */
export async function explainedInputs(
  RED: NodeAPI,
  request: ExplainRequest,
  mayWriteFlows: () => Promise<boolean>,
): Promise<{ inputs: Record<string, unknown>; notes: NodeNote[] }> {
  const owner = ownerOf(RED, request);
  const { table, saved, placeholders } = await sortInputs(RED, request, owner, mayWriteFlows);
  let read: ReadInputs<string>;
  try {
    read = inputReader(RED, owner.node, table as InputTable<string>, saved);
  } catch (error) {
    throw new DeviceCloudError('NOT_CONFIGURED', messageOf(error));
  }
  const inputs = await within(read({ _msgid: '', ...request.msg }));
  const notes = Object.entries(placeholders).map(([name, value]) =>
    placeholderNote(name, showPlaceholder(value)),
  );
  return { inputs: { ...inputs, ...placeholders }, notes };
}
