import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator, SimulatorOptions } from '../../src/simulator';
import type { FlowNode } from '../tooling/node-red/nodes';
import { startNodeRed } from '../e2e/harness/node-red';
import type { NodeRed } from '../e2e/harness/node-red';
import { EDITOR_SETTINGS } from '../tooling/editor/page';
import { SETTINGS } from '../tooling/node-red/process';
import { openEditor, type Editor } from './browser';
import { emptyPage, loadFlows } from './page';

/** What the tests of one `describe` work with. */
export interface World {
  simulator: Simulator;
  red: NodeRed;
  editor: Editor;
}

let shared: Promise<NodeRed> | undefined;

/** The page of each language: to load one takes longer than most tests. */
const pages = new Map<string, Editor>();

after(async () => {
  for (const page of pages.values()) await page.close();
  await (await shared)?.stop();
});

/** One Node-RED for all: a start takes longer than many a test, and a deploy replaces everything. */
async function deployed(flows: FlowNode[]): Promise<NodeRed> {
  // With all core nodes: the examples have many of them.
  const { nodesExcludes } = SETTINGS;
  shared ??= startNodeRed({ settings: { ...EDITOR_SETTINGS, nodesExcludes } });
  const red = await shared;
  await red.deploy(flows);
  return red;
}

/** Shows what is deployed in the page of that language. */
async function shownIn(language: string, url: string): Promise<Editor> {
  const open = pages.get(language);
  if (open) await loadFlows(open);
  const editor = open ?? (await openEditor(url, { language }));
  pages.set(language, editor);
  return editor;
}

interface WorldOptions {
  language?: string;
  simulator?: SimulatorOptions;
  /** Whether other tests need a page of their own: Node-RED 5 fails to remove a subflow whose list is not shown. */
  hasSubflow?: boolean;
}

/**
 * Starts a simulator, deploys these flows to Node-RED and shows them in its editor before the tests, and closes
 * what is theirs after. After each test the page must have had no problem.
 */
export function world(
  flows: (simulator: Simulator) => FlowNode[],
  options: WorldOptions = {},
): World {
  const { language = 'en-US', hasSubflow = false } = options;
  const here: Partial<World> = {};
  /** A page that no other test may use. */
  let isSpoilt = true;
  before(async () => {
    here.simulator = await startSimulator({ interval: 0, answerDelay: 1, ...options.simulator });
    here.red = await deployed(flows(here.simulator));
    here.editor = await shownIn(language, here.red.url);
    isSpoilt = false;
  });
  afterEach(async function () {
    const { currentTest } = this;
    const hasPassed = currentTest?.state === 'passed';
    if (!hasPassed) await here.editor?.keepPicture(currentTest?.title ?? '');
    const problems = here.editor?.problems.splice(0);
    isSpoilt ||= !hasPassed || problems?.length !== 0;
    assert.deepEqual(problems, []);
  });
  after(async () => {
    try {
      isSpoilt ||= hasSubflow;
      if (here.editor && !isSpoilt) await emptyPage(here.editor);
      else await here.editor?.close();
      if (isSpoilt) pages.delete(language);
    } finally {
      await here.simulator?.close();
    }
  });
  return here as World;
}
