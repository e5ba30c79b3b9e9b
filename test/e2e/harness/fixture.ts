import { startSimulator } from '../../../src/simulator';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { startNodeRed } from './node-red';
import type { NodeRed } from './node-red';

/** The chip numbers of the simulator's first devices. */
export const ONE = '10000001';
export const TWO = '10000002';
export const THREE = '10000003';

/** A simulator in this process and a Node-RED beside it, as the tests of one `describe` use them. */
export interface Fixture {
  simulator: Simulator;
  red: NodeRed;
}

let shared: Promise<NodeRed> | undefined;

after(async () => {
  await (await shared)?.stop();
});

/** One Node-RED for all that need nothing special of it: a start takes longer than many a test. */
async function sharedNodeRed(): Promise<NodeRed> {
  const earlier = await shared;
  if (earlier?.pid() === undefined) shared = startNodeRed();
  return shared!;
}

/**
 * Starts a simulator and deploys flows before the tests, and ends both after them. Devices upload only when a
 * test says so. At the end, every message that was sent has to have ended in exactly one done.
 * @param options with an `env`, Node-RED is started anew with it
 */
export function fixture(
  flows: (simulator: Simulator) => FlowNode[],
  options: { simulator?: SimulatorOptions; env?: NodeJS.ProcessEnv } = {},
): Fixture {
  const here: Partial<Fixture> = {};
  const { env } = options;
  before(async () => {
    const quick = { interval: 0, answerDelay: 1, offlineAfter: 300, rebootTime: 50 };
    here.simulator = await startSimulator({ ...quick, ...options.simulator });
    here.red = await (env ? startNodeRed({ env }) : sharedNodeRed());
    await here.red.deploy(flows(here.simulator));
  });
  after(async () => {
    try {
      await here.red?.everyMessageEndedOnce();
    } finally {
      await (env ? here.red?.stop() : here.red?.reset());
      await here.simulator?.close();
    }
  });
  return here as Fixture;
}
