import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator } from '../../dist/src/simulator/index.js';
import { root } from '../npm.mjs';
import { writeContents } from './contents.mjs';
import { dialogArea, openEditor } from './editor.mjs';
import { galleryFlows, startWithFlows } from './flows.mjs';
import { scenes } from './scenes.mjs';
import { versions } from './versions.mjs';

const LANGUAGES = ['en-US', 'zh-CN'];

/** The editors of a version: each theme in each language. */
const columns = ({ name, themes }) =>
  themes.flatMap((theme) =>
    LANGUAGES.map((language) => ({ name: `${name}-${theme}-${language}`, theme, language })),
  );

/** Where git does not look. */
const folder = join(root, 'screenshots', 'gallery');

/** The other pictures are worth having when one fails; the exit code says that one is missing. */
async function attempt(name, work) {
  try {
    await work();
  } catch (error) {
    console.log(`  ${name}: ${error.message.split('\n')[0]}`);
    process.exitCode = 1;
  }
}

async function take(page, { name, area, show, leave }, path) {
  await attempt(name, async () => {
    await show(page);
    const file = { path: join(path, `${name}.png`) };
    if (area === 'page') await page.screenshot(file);
    else if (area === 'dialog') await page.screenshot({ ...file, clip: await dialogArea(page) });
    else if (area === 'help') await wholeHelp(page, file);
    else await page.locator(area).first().screenshot(file);
  });
  await attempt(name, async () => leave?.(page));
}

/** The help, however long: laid over the page, as wide as it is in the sidebar. */
async function wholeHelp(page, file) {
  const size = page.viewportSize();
  await page.setViewportSize({ ...size, height: 3000 });
  await page.evaluate(`(() => {
    const help = $('.red-ui-sidebar-help-stack .red-ui-help').first();
    help.clone().attr('id', 'whole-help').appendTo('body').css({ position: 'fixed', left: 0, top: 0, zIndex: 999,
      bottom: 'auto', height: 'auto', width: help.outerWidth(), background: 'var(--red-ui-secondary-background)' });
  })()`);
  await page.locator('#whole-help').screenshot(file);
  await page.evaluate(`$('#whole-help').remove()`);
  await page.setViewportSize(size);
}

/** One folder of pictures: an editor in a theme and a language. */
async function takeColumn(browser, url, column, wanted) {
  const path = join(folder, column.name);
  mkdirSync(path, { recursive: true });
  console.log(column.name);
  const page = await openEditor(browser, url, column);
  for (const scene of wanted) await take(page, scene, path);
  await page.close();
}

/** Takes every picture: each editor, theme and language in a folder of its own. */
export async function takeGallery(browser, { only = '', editor = '' }) {
  const wanted = scenes.filter(({ name }) => new RegExp(only).test(name));
  const all = versions().map((version) => ({ version, columns: columns(version) }));
  mkdirSync(folder, { recursive: true });
  const simulator = await startSimulator({ interval: 0, answerDelay: 1, appName: 'Greenhouses' });
  try {
    for (const { version, columns } of all) {
      const chosen = columns.filter(({ name }) => new RegExp(editor).test(name));
      if (chosen.length === 0) continue;
      const red = await startWithFlows(version, galleryFlows(simulator));
      try {
        for (const column of chosen) await takeColumn(browser, red.url, column, wanted);
      } finally {
        await red.end();
      }
    }
  } finally {
    await simulator.close();
  }
  writeContents(
    folder,
    all.flatMap(({ columns }) => columns.map(({ name }) => name)),
    scenes.map(({ name }) => name),
  );
  console.log(join(folder, 'index.html'));
}
