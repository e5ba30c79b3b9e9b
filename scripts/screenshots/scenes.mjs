import { dialogs } from './dialogs.mjs';
import { atRest } from './editor.mjs';
import { apps, sampleNodes } from '../../dist/test/tooling/editor/samples.js';

const sidebar = (name, show) => ({ name, area: '#red-ui-sidebar', show });

const helps = sampleNodes
  .map(({ type }) => type)
  .concat(apps[0].type)
  .map((type) => ({
    name: `help-${type.replace('device-cloud-', '')}`,
    area: 'help',
    show: async (page) => {
      await page.evaluate(`RED.sidebar.help.show('${type}')`);
      await page.waitForSelector('.red-ui-help h1, .red-ui-help p');
      await atRest(page);
    },
  }));

const STATUSES = [
  ...['blue dot calling', 'yellow ring connecting', 'green dot connected', 'red ring disconnected'],
  ...['grey ring no-devices', 'yellow ring recovering'],
  ...['not-configured', 'invalid-input', 'bad-request', 'unauthorized', 'not-found', 'redirect'],
  ...['gateway', 'server-error', 'unexpected-status', 'timeout', 'unreachable', 'connection-lost'],
  ...['invalid-response', 'queue-full', 'not-connected', 'error'],
].map((text) => (text.includes(' ') ? text : `red ring ${text}`).split(' '));

/** Filters the palette as a person does: it is a key that it waits for. */
async function filterPalette(page) {
  await page.fill('#red-ui-palette-search input', '');
  await page.locator('#red-ui-palette-search input').pressSequentially('device-cloud');
  await atRest(page);
}

const around = [
  {
    name: 'workspace',
    area: 'page',
    async show(page) {
      await page.evaluate(`(() => {
        const statuses = ${JSON.stringify(STATUSES)};
        const nodes = RED.nodes.filterNodes({ z: 'tab' }).filter(({ type }) => /^device-cloud/.test(type));
        nodes.forEach((node, index) => {
          const [fill, shape, text] = statuses[index % statuses.length];
          node.status = { fill, shape, text: node._('status.' + text) };
          node.dirtyStatus = true;
          node.dirty = true;
        });
        RED.view.redraw(true);
      })()`);
      await atRest(page);
    },
  },
  {
    name: 'palette',
    // Node-RED 5 shows it in a sidebar, and leaves its former place empty.
    area: '#red-ui-palette-container',
    show: filterPalette,
  },
  {
    name: 'palette-tooltip',
    area: 'page',
    async show(page) {
      await filterPalette(page);
      await page.hover('[data-palette-type="device-cloud-listen"]');
      await page.waitForTimeout(1500);
    },
  },
  {
    name: 'import',
    area: '.red-ui-clipboard-dialog:visible, .ui-dialog:visible',
    async show(page) {
      await page.evaluate(`RED.actions.invoke('core:show-examples-import-dialog')`);
      await page.waitForTimeout(1500);
      await page.evaluate(`$('.ui-dialog .red-ui-treeList-label:contains(device-cloud)').click()`);
      await atRest(page);
    },
    async leave(page) {
      await page.keyboard.press('Escape');
    },
  },
  sidebar('config-nodes', async (page) => {
    await page.evaluate(`RED.sidebar.config.show()`);
    await atRest(page);
  }),
];

/**
 * What the pictures of the gallery show. `area` is the part of the page: `page`, `dialog`, `help`, or
 * a selector; `show` brings it onto the page, and `leave` takes it away.
 */
export const scenes = [...around, ...helps, ...dialogs];
