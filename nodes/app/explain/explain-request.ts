import { invalidInput } from '../../../src/input';
import { isObject } from '../../common/values';
import { EXPLAINED_NODES } from './explain-nodes';
import type { ExplainedNode, SavedProperties } from './explained-node';

/** What the editor sends to explain what a node would send. */
export interface ExplainRequest {
  /** Id of the deployed config node. */
  id: string;
  type: string;
  kind: ExplainedNode;
  /** The node's properties as typed, its id among them. */
  config: SavedProperties;
  msg: Record<string, unknown>;
}

/** Characters of a property. The longest are messages typed by hand. */
const LONGEST_PROPERTY = 65_536;
const MOST_PROPERTIES = 100;
/** Characters of the message as JSON. */
const LONGEST_MSG = 65_536;

function readConfig(node: Record<string, unknown>): SavedProperties {
  const entries = Object.entries(node);
  if (entries.length > MOST_PROPERTIES) {
    throw invalidInput(`The node has more than ${MOST_PROPERTIES} properties.`);
  }
  const config: Record<string, string | number | boolean> = Object.create(null) as typeof config;
  for (const [name, value] of entries) {
    // What is made of several values, such as `wires`, is not needed for a call.
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      continue;
    if (String(value).length > LONGEST_PROPERTY) {
      const which = name.slice(0, 40);
      throw invalidInput(`A property is longer than ${LONGEST_PROPERTY} characters: ${which}`);
    }
    config[name] = value;
  }
  return config;
}

function readMsg(value: unknown): Record<string, unknown> {
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidInput('The message has to be a JSON object.');
  let length: number;
  try {
    length = JSON.stringify(value).length;
  } catch {
    throw invalidInput('The message is nested too deep.');
  }
  if (length > LONGEST_MSG) {
    throw invalidInput(`The message is longer than ${LONGEST_MSG} characters as JSON.`);
  }
  return value;
}

/**
 * Reads the body of a request for an explanation, which may come from anyone who is logged in.
 * @param body as parsed by Node-RED, `undefined` if it is not JSON
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readExplainRequest(body: unknown): ExplainRequest {
  if (!isObject(body)) {
    throw invalidInput(
      'Send id, node and msg as a JSON object, with the header Content-Type: application/json.',
    );
  }
  const { id, node, msg } = body;
  if (typeof id !== 'string' || id.length > 100) {
    throw invalidInput('The id must be that of the configuration of an application.');
  }
  if (!isObject(node)) throw invalidInput('The node must be an object with its properties.');
  const { type } = node;
  const kind = typeof type === 'string' ? EXPLAINED_NODES.get(type) : undefined;
  if (!kind || typeof type !== 'string') {
    throw invalidInput('The type of the node is not one that sends a request for each message.');
  }
  return { id, type, kind, config: readConfig(node), msg: readMsg(msg) };
}
