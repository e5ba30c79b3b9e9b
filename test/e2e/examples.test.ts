import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEditor } from './harness/editor';
import type { Editor } from './harness/editor';
import type { FlowNode } from './harness/flows';
import { startNodeRed } from './harness/node-red';
import type { NodeRed } from './harness/node-red';
import { repository } from './harness/packed';
import { PATIENCE } from './harness/process';

const folder = join(repository, 'examples');
const examples = readdirSync(folder).map((file) => ({
  file,
  nodes: JSON.parse(readFileSync(join(folder, file), 'utf8')) as FlowNode[],
}));

/** Examples that show on purpose how an error arrives. */
const SHOW_AN_ERROR = ['Reboot a device.json', 'Read values from a device.json'];

describe('the examples in a real Node-RED', () => {
  let red: NodeRed;
  let editor: Editor;

  before(async () => {
    red = await startNodeRed();
    editor = await openEditor(red.url);
  });
  after(async () => {
    editor.close();
    await red.stop();
  });

  it('use every node of the package', () => {
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      'node-red': { nodes: object };
    };
    const used = new Set(examples.flatMap(({ nodes }) => nodes.map(({ type }) => type)));
    for (const name of Object.keys(manifest['node-red'].nodes)) {
      assert.ok(used.has(`device-cloud-${name}`), name);
    }
  });

  it('share no node id, so that all of them can be imported side by side', () => {
    const ids = examples.flatMap(({ nodes }) => nodes.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
  });

  it('are in the import menu', async () => {
    const response = await fetch(`${red.url}/library/examples/flows/@device-cloud/node-red-device-cloud`); // prettier-ignore
    const names = JSON.stringify(await response.json());
    for (const { file } of examples) assert.ok(names.includes(file.replace('.json', '')), file);
  });

  for (const { file, nodes } of examples) {
    it(`${file.replace('.json', '')}: works as it is, every button and every debug node`, async () => {
      const logBefore = red.log().length;
      await red.deploy(nodes);
      const ofType = (type: string): FlowNode[] => nodes.filter((node) => node.type === type);
      const problem = ofType('debug').find(({ name }) => name === 'error.code and why');
      const silent = SHOW_AN_ERROR.includes(file) ? [] : [problem];
      // A debug node shows in the sidebar, or below itself alone.
      const hasShown = ({ id, tosidebar }: FlowNode): boolean =>
        tosidebar === true ? editor.debugged.has(id) : editor.statuses.has(id);
      const missing = (): unknown[] =>
        ofType('debug')
          .filter((node) => !silent.includes(node) && !hasShown(node))
          .map(({ name }) => name);

      const deadline = Date.now() + PATIENCE;
      while (missing().length > 0 && Date.now() < deadline) {
        for (const { id } of ofType('inject')) {
          await fetch(`${red.url}/inject/${id}`, { method: 'POST' });
        }
        await sleep(500);
      }
      assert.deepEqual(missing(), [], 'debug nodes that showed nothing');
      for (const node of silent) {
        const errors = editor.debugged.get(node?.id ?? '');
        assert.equal(errors, undefined, 'an error; if it is meant, say so in SHOW_AN_ERROR above');
      }
      assert.doesNotMatch(red.log().slice(logBefore), /\[(error|warn)\]/);
    });
  }
});
