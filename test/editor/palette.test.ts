import assert from 'node:assert/strict';
import { inEachTheme, nearestColour, paletteNodes } from './colours';
import { world } from './world';

/** As much as WCAG 2 asks of a text. */
const TEXT = 4.5;
/**
 * As much as a white icon can have on what a dark label is to be read on, in both themes: Node-RED 5 brightens what
 * is behind the icon in its dark one. On most core nodes it is 2 or less.
 */
const ICON = 2.5;

describe('the palette', () => {
  const here = world(() => []);

  it('shows labels and icons that can be read, in each theme', () =>
    inEachTheme(here.editor, async (theme) => {
      await here.editor.picture(`palette-${theme}`);
      const nodes = await paletteNodes(here.editor);
      assert.equal(nodes.length, 12);
      const faint = nodes.filter(({ label, icon }) => label < TEXT || icon < ICON);
      assert.deepEqual(faint, [], theme);
    }));

  it('shows nodes of a colour that no core node is like', async () => {
    const [type, distance] = await nearestColour(here.editor);
    assert.ok(distance > 30, `${type}: ${distance}`);
  });

  it('shows first what receives, then what commands, then what is about the account', async () => {
    const types = (await paletteNodes(here.editor)).map(({ type }) => type);
    assert.deepEqual(types, [
      ...['listen', 'events', 'latest', 'history'],
      ...['push', 'request', 'gpio', 'rt-status', 'refresh', 'reboot'],
      ...['devices', 'server'],
    ]);
  });

  it('calls a node what it does', async () => {
    const label = here.editor.page.locator('[data-palette-type=device-cloud-rt-status]');
    assert.equal((await label.innerText()).trim(), 'read value');
  });
});
