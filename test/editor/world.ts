import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator, SimulatorOptions } from '../../src/simulator';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { startNodeRed } from '../e2e/harness/node-red';
import type { NodeRed } from '../e2e/harness/node-red';
import { EDITOR_SETTINGS } from '../../tooling/editor/page';
import { openEditor, type Editor } from './browser';

/** What the tests of one `describe` work with. */
export interface World {
  simulator: Simulator;
  red: NodeRed;
  editor: Editor;
}

let shared: Promise<NodeRed> | undefined;

after(async () => {
  await (await shared)?.stop();
});

/** One Node-RED for all: a start takes longer than many a test, and a deploy replaces everything. */
async function deployed(flows: FlowNode[]): Promise<NodeRed> {
  shared ??= startNodeRed({ settings: EDITOR_SETTINGS });
  const red = await shared;
  await red.deploy(flows);
  return red;
}

/**
 * Starts a simulator, deploys these flows to Node-RED and opens its editor in a browser before the
 * tests, and closes what is theirs after. After each test the page must have had no problem.
 */
export function world(
  flows: (simulator: Simulator) => FlowNode[],
  options: { language?: string; simulator?: SimulatorOptions } = {},
): World {
  const here: Partial<World> = {};
  before(async () => {
    here.simulator = await startSimulator({ interval: 0, answerDelay: 1, ...options.simulator });
    here.red = await deployed(flows(here.simulator));
    here.editor = await openEditor(here.red.url, { language: options.language });
  });
  afterEach(async function () {
    const { currentTest } = this;
    if (currentTest?.state === 'failed') await here.editor?.keepPicture(currentTest.title);
    assert.deepEqual(here.editor?.problems.splice(0), []);
  });
  after(async () => {
    await here.editor?.close();
    await here.simulator?.close();
  });
  return here as World;
}
