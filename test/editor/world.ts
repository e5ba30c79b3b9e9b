import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator, SimulatorOptions } from '../../src/simulator';
import type { FlowNode } from '../e2e/harness/flows';
import { startNodeRed } from '../e2e/harness/node-red';
import type { NodeRed } from '../e2e/harness/node-red';
import { EDITOR_SETTINGS, openEditor } from './browser';
import type { Editor } from './browser';

/** What the tests of one `describe` work with. */
export interface World {
  simulator: Simulator;
  red: NodeRed;
  editor: Editor;
}

/**
 * Starts a simulator, a Node-RED with these flows and a browser with its editor before the tests,
 * and ends them after. After each test the page must have had no problem.
 */
export function world(
  flows: (simulator: Simulator) => FlowNode[],
  options: { language?: string; simulator?: SimulatorOptions } = {},
): World {
  const here: Partial<World> = {};
  before(async () => {
    here.simulator = await startSimulator({ interval: 0, answerDelay: 1, ...options.simulator });
    here.red = await startNodeRed({ flows: flows(here.simulator), settings: EDITOR_SETTINGS });
    here.editor = await openEditor(here.red.url, options.language);
  });
  afterEach(() => assert.deepEqual(here.editor?.problems.splice(0), []));
  after(async () => {
    await here.editor?.close();
    await here.red?.stop();
    await here.simulator?.close();
  });
  return here as World;
}
