import type { NodeRedApp } from 'node-red';
import { embedNodeRed, type EmbeddedNodeRed } from '../../test/tooling/node-red/embedded';

/** Ends this process: an error that is thrown, Node-RED would catch. */
export function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/** An error of a node is logged, as no Catch node takes it: it ends the run. */
const handler = () => (entry: { msg: unknown }) => fail(`Node-RED: ${String(entry.msg)}`);

const SETTINGS = { logging: { bench: { level: 'error', metrics: false, audit: false, handler } } };

/**
 * Starts Node-RED in this process, with no flows.
 * @param packageFolder the built package to install, if any
 * @param prepare registers node types of the benchmark's own
 * @param settings of Node-RED, besides those of every subject
 */
export const startNodeRed = (
  packageFolder: string | undefined,
  prepare: (app: NodeRedApp) => void = () => undefined,
  settings: object = {},
): Promise<EmbeddedNodeRed> =>
  embedNodeRed({
    ...{ packageFolder: packageFolder ?? null, prepare },
    settings: { ...SETTINGS, ...settings },
  });
