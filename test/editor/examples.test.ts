import assert from 'node:assert/strict';
import { examples, ofType, type Example } from '../e2e/examples/files';
import type { FlowNode } from '../tooling/node-red/nodes';
import { STAGE_SETTINGS } from '../e2e/examples/stage';
import { startNodeRed } from '../e2e/harness/node-red';
import { EDITOR_SETTINGS } from '../tooling/editor/page';
import { TIMEOUT } from '../tooling/until';
import { openEditor, type Editor } from './browser';
import { world } from './world';

const find = (name: string): Example => examples.find((each) => each.name === name)!;

/** Picks an example in the import dialog, as a person does, and imports it. */
async function importFromMenu({ page, run }: Editor, { folder, name }: Example): Promise<void> {
  await run(`RED.actions.invoke('core:show-examples-import-dialog')`);
  const dialog = page.locator('#red-ui-clipboard-dialog');
  await dialog.getByText('@device-cloud/node-red-device-cloud', { exact: true }).click();
  await dialog.getByText(folder, { exact: true }).click();
  await dialog.getByText(name, { exact: true }).click();
  await page.locator('#red-ui-clipboard-dialog-ok').click();
  await dialog.waitFor({ state: 'hidden' });
}

/** Imports what the import dialog would fetch, and shows it; nodes of which there are some get new ids, as with "Import copy". */
const importQuickly = ({ folder, name }: Example): string => `(async () => {
  const path = ${JSON.stringify(`@device-cloud/node-red-device-cloud/${folder}/${name}`)};
  const nodes = await $.getJSON('library/examples/flows/' + encodeURI(path));
  const options = { addFlow: false, generateIds: false, notify: false };
  try {
    RED.view.importNodes(nodes, options);
  } catch (error) {
    if (error.code !== 'import_conflict') throw error;
    RED.view.importNodes(nodes, { ...options, generateIds: true });
  }
  RED.workspaces.show(RED.nodes.getWorkspaceOrder().at(-1));
})()`;

/**
 * Which nodes are invalid, and which of the last tab lie on top of each other; configurations of which there must not be two.
 * (What "Import copy" of Node-RED 4 brings anew gets another id, so that the next example brings its own broker or theme: two of
 * those do no harm.)
 */
const PROBLEMS = `(() => {
  const problems = [];
  const nodes = [];
  const last = RED.nodes.getWorkspaceOrder().at(-1);
  const check = (node) => {
    if (node.type === 'unknown') problems.push(node.name + ' is unknown');
    else if (!node.valid) problems.push(node.name + ': ' + node.validationErrors);
  };
  RED.nodes.eachNode((node) => {
    check(node);
    // What is in a subflow is drawn, and has a size, only while the subflow is open.
    if (node.z === last) nodes.push(node);
  });
  if (nodes.length === 0) problems.push('nothing was imported');
  const seen = new Set();
  RED.nodes.eachConfig((node) => {
    check(node);
    if (!['device-cloud-app', 'device-cloud-type', 'ui-base'].includes(node.type)) return;
    const key = node.type + ' ' + (node.name || node.path || node.db || node.id);
    if (seen.has(key)) problems.push('twice: ' + key);
    seen.add(key);
  });
  const box = ({ x, y, w, h, type }) => {
    const left = type === 'inject' ? 20 : 0;
    const right = type === 'debug' ? 20 : 0;
    return { left: x - w / 2 - left, right: x + w / 2 + right, top: y - h / 2, bottom: y + h / 2 };
  };
  const boxes = nodes.map(box);
  const width = Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left));
  // As much as an editor of 1280 by 800 shows beside palette and sidebar.
  if (width > 760) problems.push('it is ' + width + ' px wide');
  for (const [i, node] of nodes.entries()) {
    const a = box(node);
    for (const other of nodes.slice(i + 1)) {
      const b = box(other);
      const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      if (!apart) problems.push(node.name + ' lies on ' + other.name);
    }
  }
  return problems;
})()`;

/** Removes what was imported, so that the next one is alone. */
const CLEAR = `(() => {
  for (const id of RED.nodes.getWorkspaceOrder().slice(1)) {
    RED.workspaces.delete(RED.nodes.workspace(id));
  }
  const subflows = [];
  RED.nodes.eachSubflow(({ id }) => subflows.push(id));
  subflows.forEach((id) => RED.subflow.delete(id));
  const left = [];
  RED.nodes.eachConfig(({ id }) => left.push(id));
  left.forEach((id) => RED.nodes.remove(id));
  // Of an example that offered to install what it needs. Hidden, since the editor removes it itself later.
  $('.red-ui-notification').hide();
})()`;

/** The package whose nodes an example needs, if it needs one. */
function neededBy(nodes: FlowNode[]): string | undefined {
  const [hint] = ofType(nodes, 'global-config');
  return hint && Object.keys(hint['modules'] as object)[0];
}

describe('the examples in the import menu', () => {
  const here = world(() => []);
  afterEach(() => here.editor.run(CLEAR));

  it('are imported, each into a tab of its own', async () => {
    await importFromMenu(here.editor, find('Receive uploads'));
    const tab = here.editor.page
      .locator('.red-ui-tab')
      .getByText('Receive uploads', { exact: true });
    await tab.waitFor();
  });

  for (const each of examples) {
    const needed = neededBy(each.nodes);
    if (needed === undefined) continue;
    it(`offer to install ${needed}: ${each.name}`, async () => {
      await importFromMenu(here.editor, each);
      const offer = here.editor.page.locator('.red-ui-notification').filter({ hasText: needed });
      await offer.getByRole('button', { name: /install/i }).waitFor();
    });
  }
});

describe('all examples, imported into one Node-RED', () => {
  it('share an application, nothing is wrong with any, and all listeners are connected', async () => {
    const red = await startNodeRed({ settings: { ...EDITOR_SETTINGS, ...STAGE_SETTINGS } });
    const editor = await openEditor(red.url);
    try {
      const canvas = editor.page.locator('#red-ui-workspace-chart');
      for (const each of examples) {
        await editor.run(importQuickly(each));
        const [comment] = ofType(each.nodes, 'comment');
        await canvas.getByText(String(comment?.['name']), { exact: true }).first().waitFor();
        assert.deepEqual(await editor.run(PROBLEMS), [], each.name);
      }
      const apps = `RED.nodes.filterNodes({ type: 'device-cloud-listen' })
          .filter(({ z }) => RED.nodes.workspace(z))
          .map(({ app }) => app)
          // Only the example of several Node-REDs needs one of its own.
          .filter((app) => !RED.nodes.node(app).cluster)`;
      assert.equal(new Set(await editor.run<string[]>(apps)).size, 1);
      await editor.page.click('#red-ui-header-button-deploy');
      const green = `RED.nodes.filterNodes({ type: 'device-cloud-listen' })
          .filter(({ devices, z }) => devices !== 'dynamic' && RED.nodes.workspace(z))
          .every(({ status }) => status?.fill === 'green')`;
      await editor.page.waitForFunction(green, undefined, { timeout: TIMEOUT });
      assert.doesNotMatch(red.log(), /\[error\]|same application/);
    } finally {
      await editor.close();
      await red.stop();
    }
  }).timeout(10 * 60_000);
});
