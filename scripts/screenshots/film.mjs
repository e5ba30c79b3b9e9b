import { sharp } from './small.mjs';

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

/**
 * An animated picture of a page that somebody uses. sharp writes it, which makes the other pictures small, too. How long a frame is shown is what the viewer needs to see it,
 * not what it took: waiting is cut.
 */
export class Film {
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
