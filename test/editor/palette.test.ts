import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../tooling/repository';
import { inEachTheme, paletteNodes, TEXT } from './colours';
import { world } from './world';

/**
 * 3 is out of reach. The light theme's label, #333, has 4.5 on nothing darker than a luminance of 0.324, and on that white
 * has 2.8; the dark theme of Node-RED 5 lays 7 % of white over what is behind the icon, which leaves 2.6. On most core
 * nodes it is 2 or less, and the label beside the icon says the same.
 */
const ICON = 2.5;

/** The nodes of the palette, in the order of package.json. */
const NODES = Object.keys(
  (
    JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      'node-red': { nodes: object };
    }
  )['node-red'].nodes,
).filter((name) => !['app', 'type', 'cluster'].includes(name));

describe('the palette', () => {
  const here = world(() => []);

  it('shows labels and icons that can be read, in each theme', () =>
    inEachTheme(here.editor, async (theme) => {
      await here.editor.picture(`palette-${theme}`);
      const nodes = await paletteNodes(here.editor);
      assert.equal(nodes.length, NODES.length);
      const faint = nodes.filter(({ label, icon }) => label < TEXT || icon < ICON);
      assert.deepEqual(faint, [], theme);
    }));

  it('shows the icon of each node', async () => {
    // Node-RED answers with an arrow for an icon that it does not find.
    const shown = await here.editor.run<Record<string, string>>(`(async () => {
      const nodes = $('.red-ui-palette-node[data-palette-type^=device-cloud]').toArray();
      const icons = nodes.map(async (node) => {
        const { backgroundImage } = getComputedStyle($(node).find('.red-ui-palette-icon')[0]);
        const answer = await fetch(/url\\("(.*)"\\)/.exec(backgroundImage)[1]);
        return [node.dataset.paletteType, await answer.text()];
      });
      return Object.fromEntries(await Promise.all(icons));
    })()`);
    const own = Object.keys(shown).map((type) => {
      return [type, readFileSync(join(repository, 'icons', `${type}.svg`), 'utf8')] as const;
    });
    assert.equal(own.length, NODES.length);
    assert.deepEqual(shown, Object.fromEntries(own));
  });

  it('shows the nodes that most flows begin with first, and the queue last', async () => {
    const types = (await paletteNodes(here.editor)).map(({ type }) => type);
    assert.deepEqual(types, NODES);
    const order = [
      ...['listen', 'latest', 'push', 'gpio', 'events', 'request', 'history', 'devices'],
      ...['rt-status', 'refresh', 'reboot', 'server'],
    ];
    // A new node has its place in package.json alone.
    assert.deepEqual(
      types.filter((type) => order.includes(type)),
      order,
    );
  });

  it('names a node by what it does', async () => {
    const label = here.editor.page.locator('[data-palette-type=device-cloud-rt-status]');
    assert.equal((await label.innerText()).trim(), 'read value');
  });
});
