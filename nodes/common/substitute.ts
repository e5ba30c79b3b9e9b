import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError } from '../../src/index';

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
    throw new DeviceCloudError('NOT_CONFIGURED', `The environment variable ${name} is not set.`);
  });
}
