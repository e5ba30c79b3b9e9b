import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError } from '../../src/index';
import { variableName } from './values';

const notSet = (name: string): DeviceCloudError =>
  new DeviceCloudError('NOT_CONFIGURED', `The environment variable ${name} is not set.`);

/**
 * A setting as text. Node-RED replaces `${NAME}` in deployed nodes, unless the variable is not set; in
 * settings that were only typed it has not been replaced yet.
 * @throws DeviceCloudError `NOT_CONFIGURED` that names the variable that is not set
 */
export function textOf(RED: NodeAPI, node: Node | undefined, value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  const name = variableName(value);
  if (name === undefined) return value;
  // Without a node only the variables of the process are known, which the types do not foresee.
  const found = RED.util.evaluateNodeProperty(`\${${name}}`, 'env', node as Node, {}) as unknown;
  if (typeof found === 'string' && found !== '' && found !== value) return found;
  throw notSet(name);
}

/** A variable inside a text. Node-RED replaces only a property that is nothing but one variable. */
const VARIABLE = /\$\{([^{}\s]+)\}/g;

export const hasVariable = (text: unknown): boolean =>
  typeof text === 'string' && text.search(VARIABLE) >= 0;

/**
 * Replaces each `${NAME}` in a text.
 * @param node the deployed node; undefined for settings that were only typed: then those of the process are known
 * @throws DeviceCloudError `NOT_CONFIGURED` that names the first variable that is not set
 */
export function substitute(RED: NodeAPI, node: Node | undefined, text: string): string {
  return text.replace(VARIABLE, (_whole, name: string) => {
    // The types do not foresee that there is no node.
    const found = RED.util.evaluateNodeProperty(name, 'env', node as Node, {}) as unknown;
    if ((typeof found === 'string' && found !== '') || typeof found === 'number')
      return String(found);
    throw notSet(name);
  });
}
