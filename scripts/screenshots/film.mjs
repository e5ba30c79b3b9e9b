import { join } from 'node:path';
import { EDITOR_SETTINGS, openPage } from '../../dist/test/tooling/editor/page.js';
import { atRest, sharp, startWithFlows } from './editor.mjs';

/** A pointer, and a ring while a button is down: a headless browser draws neither. */
const POINTER = `addEventListener('DOMContentLoaded', () => {
  const pointer = document.createElement('div');
  pointer.style.cssText = 'position:fixed;left:0;top:0;z-index:99999;pointer-events:none;display:none';
  pointer.innerHTML = '<svg width="26" height="34" viewBox="0 0 13 17" style="position:absolute;left:-1px;top:-1px">' +
    '<path d="M1 1v13l3-3 2 5 2.4-1L6.400 10H11z" fill="#111" stroke="#fff" stroke-width="1.200"/></svg>' +
    '<i style="position:absolute;left:-16px;top:-16px;width:32px;height:32px;border-radius:50%;box-sizing:border-box;' +
    'border:3px solid #e8590c;display:none"></i>';
  document.body.append(pointer);
  const show = ({ clientX, clientY, buttons }) => {
    pointer.style.display = 'block';
    pointer.style.transform = 'translate(' + clientX + 'px,' + clientY + 'px)';
    pointer.lastChild.style.display = buttons ? 'block' : 'none';
  };
  for (const type of ['mousemove', 'mousedown', 'mouseup']) addEventListener(type, show, true);
});`;

/** An animated picture of a page that somebody uses. A frame is shown as long as a viewer needs, not as long as it took. */
class Film {
  #frames = [];
  #delays = [];
  #at = { x: 0, y: 0 };

  constructor(page) {
    this.page = page;
  }

  /** Shows the page as it is for a time, in milliseconds. */
  async hold(delay) {
    this.#frames.push(await this.page.screenshot());
    this.#delays.push(delay);
  }

  /** Waits for an element, or for its end, until nothing moves any more, and holds. */
  async see(selector, delay, state = 'visible') {
    await this.page.locator(selector).first().waitFor({ state });
    // The tip of a node that a dialog covers would stay in the corner.
    await this.page.evaluate(`$('.red-ui-popover').remove()`);
    await atRest(this.page);
    await this.hold(delay);
  }

  /** Where something is: a point, or the middle of an element. */
  async #place(at) {
    if (typeof at !== 'string') return at;
    const { x, y, width, height } = await this.page.locator(at).first().boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
  }

  /** Moves the pointer, seen. */
  async move(at, steps = 4) {
    const [from, to] = [this.#at, await this.#place(at)];
    for (let step = 1; step <= steps; step += 1) {
      const part = step / steps;
      this.#at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
      await this.page.mouse.move(this.#at.x, this.#at.y);
      await this.hold(50);
    }
  }

  async click(at) {
    await this.drag(at, at, 1);
  }

  async doubleClick(at) {
    await this.click(at);
    await this.page.mouse.click(this.#at.x, this.#at.y, { clickCount: 2 });
  }

  /** Types, a letter a frame. */
  async type(text) {
    for (const letter of text) {
      await this.page.keyboard.type(letter);
      await this.hold(90);
    }
  }

  async drag(from, to, steps = 7) {
    await this.move(from);
    await this.page.mouse.down();
    await this.hold(160);
    if (to !== from) await this.move(to, steps);
    await this.page.mouse.up();
  }

  /** Writes the film as a GIF, which every page that shows the README can show. */
  async write(path) {
    await sharp()(this.#frames, { join: { animated: true } })
      .gif({ delay: this.#delays, loop: 0, colours: 64, dither: 0, effort: 10 })
      .toFile(path);
  }
}

const palette = (type) => `.red-ui-palette-node[data-palette-type='${type}']`;
const MESSAGE = '.red-ui-debug-msg';
const DEVICE = '.red-ui-autoComplete-container:visible a:has-text("10000001")';

/** What a person does in the first minute: from the palette to uploads in the debug sidebar. */
async function play(film) {
  const { page } = film;
  await film.move({ x: 420, y: 330 }, 1);
  await film.hold(900);
  await film.drag(palette('device-cloud-listen'), { x: 300, y: 170 });
  await film.hold(300);
  await film.click('#red-ui-palette-search input');
  await film.type('debug');
  await film.see(palette('debug'), 200);
  await film.drag(palette('debug'), { x: 560, y: 170 });
  await film.hold(300);
  await film.drag(
    '.red-ui-flow-port-output .red-ui-flow-port',
    '.red-ui-flow-port-input .red-ui-flow-port',
    4,
  );
  await film.hold(400);
  await film.doubleClick('.red-ui-flow-node-group');
  await film.see('#node-input-btn-app-add', 900);
  await film.click('#node-input-btn-app-add');
  await film.see('#node-config-input-service', 700);
  await film.move('#node-config-input-service');
  await film.hold(300);
  await page.selectOption('#node-config-input-service', 'simulator');
  await film.hold(900);
  await film.click('#node-config-dialog-ok');
  await film.see('#node-config-dialog-ok', 200, 'detached');
  await film.click('.device-cloud-chipid');
  await film.see(DEVICE, 900);
  await film.click(DEVICE);
  await atRest(page);
  await film.hold(500);
  await film.click('#node-dialog-ok');
  await film.see('#node-dialog-ok', 400, 'detached');
  await film.click('#red-ui-header-button-deploy');
  await page.waitForSelector(MESSAGE);
  await page.evaluate(`$('.red-ui-notification').remove()`);
  await film.move({ x: 640, y: 420 });
  await film.hold(900);
  for (const number of [1, 2, 3]) await film.see(`${MESSAGE} >> nth=${number}`, 900);
  await film.hold(1600);
}

/** Makes the animated picture of the README. */
export async function takeFirstMinute(browser, folder) {
  // The nodes that are dragged stand at the top of the palette.
  const { editorTheme } = EDITOR_SETTINGS;
  const palette = { catalogues: [], categories: ['device cloud'] };
  const settings = { ...EDITOR_SETTINGS, editorTheme: { ...editorTheme, palette } };
  const flows = [{ id: 'tab', type: 'tab', label: 'Flow 1' }];
  const red = await startWithFlows('first-minute', flows, settings);
  try {
    const prepare = (page) => page.addInitScript(POINTER);
    const page = await openPage(browser, red.url, { height: 560, prepare });
    await page.setViewportSize({ width: 1000, height: 560 });
    await page.evaluate(`RED.sidebar.show('debug')`);
    await atRest(page);
    const film = new Film(page);
    await play(film);
    await film.write(join(folder, 'first-minute.gif'));
    await page.close();
  } finally {
    await red.end();
  }
}
