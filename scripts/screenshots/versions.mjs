import { installNodeRed5, target } from '../node-red.mjs';

const version = (name, number, themes) => {
  const { env } = target(number);
  return { name, themes, nodeRed: env.E2E_NODE_RED, node: env.E2E_NODE };
};

/** The editors whose dialogs are shown: name, where they are, and which themes they have. */
export function versions() {
  installNodeRed5();
  return [version('node-red-4', '4', ['light']), version('node-red-5', '5', ['light', 'dark'])];
}
