import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { openEditor } from '../harness/editor';
import type { Editor } from '../harness/editor';
import { startNodeRed } from '../harness/node-red';
import type { NodeRed } from '../harness/node-red';
import { temporary } from '../harness/packed';
import { repository } from '../../../tooling/repository';

/** One Node-RED for all examples, with the nodes of other packages that some of them need. */
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

/**
 * Starts it before the tests of a `describe`, and ends it after them.
 * @param userDir makes its user folder; default: a fresh one with the package alone
 */
export function useStage(userDir?: () => Promise<string>): Stage {
  const here: Partial<Stage> = {};
  before(async () => {
    here.folder = await mkdtemp(join(await temporary(), 'files-'));
    // The examples write into the folder for temporary files.
    const env = { TEMP: here.folder };
    const made = userDir ? { userDir: await userDir() } : {};
    here.red = await startNodeRed({ settings: STAGE_SETTINGS, env, ...made });
    here.editor = await openEditor(here.red.url);
  });
  after(async () => {
    here.editor?.close();
    await here.red?.stop();
  });
  return here as Stage;
}
