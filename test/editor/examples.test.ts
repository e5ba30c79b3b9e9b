import assert from 'node:assert/strict';
import { examples, ofType } from '../e2e/examples/files';
import type { FlowNode } from '../../tooling/node-red/nodes';
import type { Editor } from './browser';
import { world } from './world';

/** Picks an example in the import dialog, as a person does, and imports it. */
async function importFromMenu({ page, run }: Editor, name: string): Promise<void> {
  await run(`RED.actions.invoke('core:show-examples-import-dialog')`);
  const dialog = page.locator('#red-ui-clipboard-dialog');
  await dialog.getByText('@device-cloud/node-red-device-cloud', { exact: true }).click();
  await dialog.getByText(name, { exact: true }).click();
  await page.locator('#red-ui-clipboard-dialog-ok').click();
  await dialog.waitFor({ state: 'hidden' });
}

/** Imports what the import dialog would fetch, and shows it. */
const importQuickly = (name: string): string => `(async () => {
  const path = ${JSON.stringify(`@device-cloud/node-red-device-cloud/${name}`)};
  const nodes = await $.getJSON('library/examples/flows/' + encodeURI(path));
  RED.view.importNodes(nodes, { addFlow: false, generateIds: true, notify: false });
  RED.workspaces.show(RED.nodes.getWorkspaceOrder().at(-1));
})()`;

/** Which nodes beside those of the first tab have something wrong, and which lie on top of each other. */
const PROBLEMS = `(() => {
  const problems = [];
  const nodes = [];
  const [first] = RED.nodes.getWorkspaceOrder();
  RED.nodes.eachNode((node) => {
    // It would end at the first false that it is given back.
    if (node.z !== first) nodes.push(node);
  });
  const check = (node) => {
    if (node.type === 'unknown') problems.push(node.name + ' is unknown');
    else if (!node.valid) problems.push(node.name + ': ' + node.validationErrors);
  };
  if (nodes.length === 0) problems.push('nothing was imported');
  nodes.forEach(check);
  RED.nodes.eachConfig(check);
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
      if (node.z === other.z && !apart) problems.push(node.name + ' lies on ' + other.name);
    }
  }
  return problems;
})()`;

/** Removes what was imported, so that the next one is alone. */
const CLEAR = `(() => {
  for (const id of RED.nodes.getWorkspaceOrder().slice(1)) {
    RED.workspaces.delete(RED.nodes.workspace(id));
  }
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

describe('the examples in an editor that has no other nodes', () => {
  const here = world(() => []);
  afterEach(() => here.editor.run(CLEAR));

  it('import from the menu, each into a tab of its own', async () => {
    await importFromMenu(here.editor, 'Receive uploads');
    const tab = here.editor.page
      .locator('.red-ui-tab')
      .getByText('Receive uploads', { exact: true });
    await tab.waitFor();
  });

  it('share one application: the second takes the one that is there', async () => {
    await importFromMenu(here.editor, 'Receive uploads');
    await importFromMenu(here.editor, 'Push a message');
    const tab = here.editor.page.locator('.red-ui-tab').getByText('Push a message');
    // Node-RED 4 asks, since the application has the same id.
    const copy = here.editor.page.getByRole('button', { name: 'Import copy' });
    await tab.or(copy).first().waitFor();
    if (await copy.isVisible()) await copy.click();
    await tab.waitFor();
    const applications = `(() => {
      const found = [];
      RED.nodes.eachConfig(({ type, name, users }) => {
        if (type === 'device-cloud-app') found.push([name, users.length > 3]);
      });
      return found;
    })()`;
    assert.deepEqual(await here.editor.run(applications), [['Simulator', true]]);
  });

  for (const { name, nodes } of examples) {
    const needed = neededBy(nodes);
    if (needed) {
      it(`${name}: its import offers to install ${needed}`, async () => {
        await importFromMenu(here.editor, name);
        const offer = here.editor.page.locator('.red-ui-notification').filter({ hasText: needed });
        await offer.getByRole('button', { name: /install/i }).waitFor();
      });
    } else {
      it(`${name}: nothing is wrong with it`, async () => {
        await here.editor.run(importQuickly(name));
        const [comment] = ofType(nodes, 'comment');
        const canvas = here.editor.page.locator('#red-ui-workspace-chart');
        const label = canvas.getByText(String(comment?.['name']), { exact: true });
        await label.first().waitFor();
        assert.deepEqual(await here.editor.run(PROBLEMS), []);
      });
    }
  }
});
