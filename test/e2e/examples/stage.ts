import { join } from 'node:path';
import { openEditor } from '../harness/editor';
import type { Editor } from '../harness/editor';
import { startNodeRed } from '../harness/node-red';
import type { NodeRed } from '../harness/node-red';
import { userDirWithPackage } from '../harness/packed';
import { repository } from '../../tooling/repository';
import { temporaryFolder } from '../../tooling/temporary-folder';

/** One Node-RED for all examples and the demo, with the packages that some of them need. */
export interface Stage {
  red: NodeRed;
  editor: Editor;
  /** Where the examples put their files. */
  folder: string;
}

const DASHBOARD = join(repository, 'node_modules', '@flowfuse', 'node-red-dashboard');
const SQLITE = join(repository, 'test', 'support', 'sqlite-node');

/** Settings of a Node-RED with the dashboard, and with a stand-in for the SQLite nodes. */
export const STAGE_SETTINGS = {
  nodesExcludes: [],
  // E2E_SQLITE_NODE is the folder of an installed node-red-node-sqlite, to try it in place of the stand-in.
  nodesDir: [process.env['E2E_SQLITE_NODE'] ?? SQLITE, DASHBOARD],
  debugMaxLength: 100_000,
};

let shared: Promise<Stage> | undefined;

after(async () => {
  if (!shared) return;
  const { editor, red } = await shared;
  editor.close();
  await red.stop();
});

async function start(): Promise<Stage> {
  const folder = temporaryFolder('files');
  const userDir = userDirWithPackage('stage');
  // The examples write into the folder for temporary files.
  const red = await startNodeRed({ settings: STAGE_SETTINGS, env: { TEMP: folder }, userDir });
  return { red, editor: await openEditor(red.url), folder };
}

/** Has it ready before the tests of a `describe`, and without flows after them. */
export function useStage(): Stage {
  const here: Partial<Stage> = {};
  before(async () => {
    shared ??= start();
    Object.assign(here, await shared);
  });
  after(() => here.red?.deploy([]));
  return here as Stage;
}
