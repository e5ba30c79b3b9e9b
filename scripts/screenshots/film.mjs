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

/** Milliseconds that a step of a movement is shown. */
const STEP = 50;

/** An animated picture of a page that somebody uses. A frame is shown as long as a viewer needs, not as long as it took. */
class Film {
  #frames = [];
  #delays = [];
  #at = { x: 0, y: 0 };

  constructor(page) {
    this.page = page;
  }

  /** Call it before the page is loaded. */
  static prepare = (page) => page.addInitScript(POINTER);

  /** Shows the page as it is for a time, in milliseconds. */
  async hold(delay) {
    this.#frames.push(await this.page.screenshot());
    this.#delays.push(delay);
  }

  /** Puts the pointer somewhere. */
  async place(at) {
    this.#at = at;
    await this.page.mouse.move(at.x, at.y);
  }

  /** Moves the pointer, seen. */
  async move(to, steps = 4) {
    const from = this.#at;
    for (let step = 1; step <= steps; step += 1) {
      const part = step / steps;
      await this.place({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });
      await this.hold(STEP);
    }
  }

  /** The middle of an element. */
  async middle(selector) {
    const { x, y, width, height } = await this.page.locator(selector).first().boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
  }

  async click(selector) {
    await this.move(await this.middle(selector));
    await this.page.mouse.down();
    await this.hold(160);
    await this.page.mouse.up();
  }

  async doubleClick(selector) {
    await this.click(selector);
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
    await this.hold(200);
    await this.move(to, steps);
    await this.page.mouse.up();
  }

  /** Writes the film as a GIF, which every page that shows the README can show. */
  async write(path) {
    await sharp()(this.#frames, { join: { animated: true } })
      .gif({ delay: this.#delays, loop: 0, colours: 64, dither: 0, effort: 10 })
      .toFile(path);
  }
}

const SIZE = { width: 1000, height: 560 };

/** The nodes that are dragged stand at the top of the palette. */
const settings = {
  editorTheme: {
    ...EDITOR_SETTINGS.editorTheme,
    palette: { catalogues: [], categories: ['device cloud'] },
  },
};

const palette = (type) => `.red-ui-palette-node[data-palette-type='${type}']`;

/** What a person does in the first minute: from the palette to uploads in the debug sidebar. */
async function play(film) {
  const { page } = film;
  await film.place({ x: 420, y: 330 });
  await film.hold(900);

  await film.drag(await film.middle(palette('device-cloud-listen')), { x: 300, y: 170 });
  await film.hold(300);
  await film.click('#red-ui-palette-search input');
  await film.type('debug');
  await atRest(page);
  await film.hold(200);
  await film.drag(await film.middle(palette('debug')), { x: 560, y: 170 });
  await film.hold(300);
  await film.drag(
    await film.middle('.red-ui-flow-port-output .red-ui-flow-port'),
    await film.middle('.red-ui-flow-port-input .red-ui-flow-port'),
    4,
  );
  await film.hold(400);

  await film.doubleClick('.red-ui-flow-node-group');
  await page.waitForSelector('#node-input-btn-app-add');
  await atRest(page);
  await film.hold(900);

  await film.click('#node-input-btn-app-add');
  await page.waitForSelector('#node-config-input-service:visible');
  await atRest(page);
  await film.hold(700);
  await film.move(await film.middle('#node-config-input-service'));
  await film.hold(300);
  await page.selectOption('#node-config-input-service', 'simulator');
  await film.hold(900);
  await film.click('#node-config-dialog-ok');
  await page.waitForSelector('#node-config-dialog-ok', { state: 'detached' });
  await atRest(page);

  await film.click('.device-cloud-chipid');
  await page.waitForSelector('.red-ui-autoComplete-container:visible a');
  await atRest(page);
  await film.hold(900);
  await film.click('.red-ui-autoComplete-container:visible a:has-text("10000001")');
  await atRest(page);
  await film.hold(500);
  await film.click('#node-dialog-ok');
  await page.waitForSelector('#node-dialog-ok', { state: 'detached' });
  await atRest(page);
  await film.hold(400);

  await film.click('#red-ui-header-button-deploy');
  await page.waitForSelector('.red-ui-debug-msg');
  await page.evaluate(`$('.red-ui-notification').remove()`);
  await film.move({ x: 640, y: 420 });
  await film.hold(900);
  for (const number of [2, 3, 4]) {
    await page
      .locator('.red-ui-debug-msg')
      .nth(number - 1)
      .waitFor();
    await atRest(page);
    await film.hold(900);
  }
  await film.hold(1600);
}

/** Makes the animated picture of the README. */
export async function takeFirstMinute(browser, folder) {
  const flows = [{ id: 'tab', type: 'tab', label: 'Flow 1' }];
  const red = await startWithFlows('first-minute', flows, { settings });
  try {
    const page = await openPage(browser, red.url, { height: SIZE.height, prepare: Film.prepare });
    await page.setViewportSize(SIZE);
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
