import { startSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { until } from '../../tooling/until';
import { startNodeRed, type NodeRed } from './node-red';

/** What the tests of a `describe` work with. */
export interface World {
  simulator: Simulator;
  red: NodeRed;
  /** Starts a Node-RED in the folder of the last one. */
  again: () => Promise<void>;
  /** Ends it as a crash does: two at once would emit each upload twice. */
  kill: () => Promise<void>;
}

/** A simulator and a Node-RED with these flows, for all tests of a `describe`. */
export function useWorld(
  flows: (simulator: Simulator) => FlowNode[],
  options: SimulatorOptions = {},
  settings: object = {},
): World {
  const world: Partial<World> = {
    async again() {
      world.red = await startNodeRed({ userDir: world.red!.userDir, settings });
    },
    async kill() {
      process.kill(world.red!.pid()!, 'SIGKILL');
      const isGone = (): boolean =>
        world.red!.pid() === undefined && world.simulator!.channels() === 0;
      await until(isGone, 'the process and its channels are gone');
    },
  };
  before(async () => {
    world.simulator = await startSimulator({ interval: 0, answerDelay: 1, ...options });
    world.red = await startNodeRed({ flows: flows(world.simulator), settings });
  });
  after(async () => {
    await world.red?.stop();
    await world.simulator?.close();
  });
  return world as World;
}
