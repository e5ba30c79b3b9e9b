import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examples } from '../../dist/test/e2e/examples/files.js';
import { EDITOR_SETTINGS, openPage } from '../../dist/test/tooling/editor/page.js';
import { atPort, startBroker } from '../../dist/test/tooling/servers/broker.js';
import { linesTo, startLineServer } from '../../dist/test/tooling/servers/lines.js';
import { root } from '../npm.mjs';
import { atRest, startWithFlows, writeSmall } from './editor.mjs';

/** The nodes that some examples need, besides those of this package. */
const NODES = [
  join(root, 'test', 'support', 'sqlite-node'),
  join(root, 'node_modules', '@flowfuse', 'node-red-dashboard'),
];

const PAGE = join(root, 'docs', 'use', 'recipes.md');

/** The examples whose pictures the page shows. */
function recipes() {
  const pictures = readFileSync(PAGE, 'utf8').matchAll(/images\/(recipe-[a-z-]+\.png)/g);
  return [...pictures].map(([, picture]) => {
    return { picture, nodes: examples.find(({ name }) => picture === pictureOf(name)).nodes };
  });
}

const pictureOf = (name) => `recipe-${name.toLowerCase().replaceAll(' ', '-')}.png`;

/** The part of the page that shows the groups of the open tab; the comment above them is the title of the recipe. */
const FLOW_AREA = `(() => {
  const boxes = [...document.querySelectorAll('.red-ui-flow-group-outline')]
    .map((group) => group.getBoundingClientRect())
    .filter(({ width }) => width > 0);
  const edge = (side, most) => most(...boxes.map((box) => box[side]));
  const x = edge('left', Math.min) - 12;
  const y = edge('top', Math.min) - 8;
  return { x, y, width: edge('right', Math.max) + 20 - x, height: edge('bottom', Math.max) + 8 - y };
})()`;

async function takeRecipe(page, { picture: name, nodes }, folder) {
  const tab = nodes.find(({ type }) => type === 'tab');
  await page.evaluate(`RED.workspaces.show('${tab.id}')`);
  await atRest(page);
  const picture = await page.screenshot({ clip: await page.evaluate(FLOW_AREA) });
  await writeSmall(picture, join(folder, name));
}

/** Takes the pictures of the flows among the recipes, running, in an editor that shows nothing else. */
export async function takeRecipes(browser, folder) {
  const all = recipes();
  const nodes = new Map(all.flatMap((each) => each.nodes).map((node) => [node.id, node]));
  const settings = { ...EDITOR_SETTINGS, nodesExcludes: [], nodesDir: NODES };
  // What they write to, or the pictures would show that it is missing.
  const broker = await startBroker();
  const database = await startLineServer();
  const flows = linesTo(atPort([...nodes.values()], broker.port), database.url);
  const red = await startWithFlows('recipes', flows, settings);
  try {
    const page = await openPage(browser, red.url, { theme: 'light', height: 900 });
    await page.evaluate(
      `RED.actions.invoke('core:toggle-sidebar'); RED.actions.invoke('core:toggle-palette')`,
    );
    await page.evaluate(`$('.red-ui-notification').remove()`);
    for (const recipe of all) await takeRecipe(page, recipe, folder);
    await page.close();
  } finally {
    await red.end();
    await Promise.all([broker.close(), database.close()]);
  }
}
