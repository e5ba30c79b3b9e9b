import type { Editor } from './browser';

/**
 * Runs in the page: what of a part of it does not fit. Every text has to be within what clips it,
 * and off every field; each finding says what it is and what text it is about.
 * @param outer what may clip the form
 */
const find = (outer: string, inner: string): string => `(() => {
  const tray = ${outer};
  const form = ${inner};
  const found = new Set();
  const shown = (element) => element.getClientRects().length > 0 &&
    getComputedStyle(element).visibility !== 'hidden';
  const words = (text) => text.trim().replace(/\\s+/g, ' ');

  // A copy with room for all it says: the browser alone knows how much it draws around a text.
  const natural = (element, fill) => {
    const copy = element.cloneNode(false);
    copy.removeAttribute('id');
    copy.style.cssText = 'position: absolute; visibility: hidden; width: auto; min-width: 0; max-width: none';
    copy.style.setProperty('width', 'auto', 'important');
    fill(copy);
    element.after(copy);
    const width = copy.getBoundingClientRect().width;
    copy.remove();
    return width;
  };

  for (const select of $(form).find('select').filter((_, element) => shown(element)).toArray()) {
    // One that is as wide as what is chosen shows the others in a list of their own.
    const options = getComputedStyle(select).fieldSizing === 'content' ? select.selectedOptions : select.options;
    for (const option of options) {
      const width = natural(select, (copy) => copy.append(option.cloneNode(true)));
      if (width > select.getBoundingClientRect().width + 1) found.add('option: ' + words(option.text));
    }
  }

  const ruler = document.createElement('canvas').getContext('2d');
  for (const input of $(form).find('input[placeholder]').filter((_, element) => shown(element)).toArray()) {
    const style = getComputedStyle(input);
    ruler.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (ruler.measureText(input.placeholder).width > room) found.add('placeholder: ' + input.placeholder);
  }

  // What the reader scrolls is not cut.
  const isSpoken = (element) => $(element).parents().addBack().toArray().some((box) => getComputedStyle(box).clipPath !== 'none');
  // Of one that is too long, the mouse shows the rest.
  const hasEllipsis = (element, text) => getComputedStyle(element).textOverflow === 'ellipsis' &&
    words(element.closest('[title]')?.title ?? '').includes(text);
  const clips = (style, axis) => ['hidden', 'clip'].includes(style['overflow' + axis]);
  const fields = $(form).find('input, select, textarea, button').filter((_, element) => shown(element))
    .toArray().filter((field) => field.type !== 'hidden');
  const walker = document.createTreeWalker(form, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = words(node.data);
    const element = node.parentElement;
    if (text === '' || !shown(element) || element.closest('option, script, style, .editor-tray-hidden')) continue;
    if (isSpoken(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()];
    for (const rect of rects) {
      let scrolls = false;
      let isScrolledAway = false;
      for (let box = element; box && tray.contains(box); box = box.parentElement) {
        const style = getComputedStyle(box);
        const frame = box.getBoundingClientRect();
        const wide = clips(style, 'X') && (rect.right > frame.right + 1 || rect.left < frame.left - 1);
        const high = !scrolls && clips(style, 'Y') && (rect.bottom > frame.bottom + 2 || rect.top < frame.top - 2);
        if ((wide && !hasEllipsis(element, text)) || high) found.add('cut: ' + text);
        const scrollsHere = ['auto', 'scroll'].includes(style.overflowY);
        scrolls ||= scrollsHere;
        isScrolledAway ||= scrollsHere && (rect.bottom > frame.bottom || rect.top < frame.top);
      }
      const edge = form.getBoundingClientRect();
      if ((rect.right > edge.right + 1 || rect.left < edge.left - 1) && !hasEllipsis(element, text)) found.add('outside: ' + text);
      const right = hasEllipsis(element, text)
        ? Math.min(rect.right, element.getBoundingClientRect().right) : rect.right;
      for (const field of isScrolledAway ? [] : fields) {
        if (field.contains(element)) continue;
        const frame = field.getBoundingClientRect();
        const over = Math.min(right, frame.right) - Math.max(rect.left, frame.left);
        const under = Math.min(rect.bottom, frame.bottom) - Math.max(rect.top, frame.top);
        if (over > 1 && under > 3) found.add('over a field: ' + text);
      }
    }
    const lines = new Set(rects.map((rect) => Math.round(rect.top)));
    const oneLine = element.closest('label, button, summary, h4, .red-ui-typedInput-type-label');
    if (oneLine && lines.size > 1) found.add('wrapped: ' + text);
  }

  // A unit or a remark behind a field is on the same line.
  for (const remark of $(form).find('.form-row > input + span').filter((_, element) => shown(element)).toArray()) {
    const field = remark.previousElementSibling.getBoundingClientRect();
    const lines = [...remark.getClientRects()];
    if (field.height > 0 && (lines.length > 1 || lines[0].top >= field.bottom)) {
      found.add('not beside its field: ' + words(remark.textContent));
    }
  }

  // All fields end at one line, and no remark goes beyond it. The application's has buttons behind it.
  const name = $(form).find('#node-input-name:visible')[0];
  const end = name?.getBoundingClientRect().right;
  for (const row of name ? $(form).find('.form-row').toArray().filter((row) => row.checkVisibility()) : []) {
    const parts = $(row).children(':visible').not('label:has(i), input[type=checkbox]').toArray();
    const last = Math.max(...parts.map((part) => {
      const range = document.createRange();
      range.selectNodeContents(part);
      const box = part.matches('span, label') ? range : part;
      return box.getBoundingClientRect().right;
    }));
    const isField = parts.length > 0 && !parts.some((part) => part.matches('span, label, .device-cloud-note:first-child'));
    if (last > end + 2 || (isField && last < end - 2)) {
      found.add('ends elsewhere: ' + (row.id || $(row).find('[id^=node-input]').attr('id')) + ' ' + (last - end));
    }
  }

  for (const box of [form, ...$(form).parentsUntil(tray).toArray()]) {
    if (box.scrollWidth > box.clientWidth + 1) found.add('wider than the dialog: ' + (box.id || box.className || box.tagName));
  }
  return [...found];
})()`;

/** What does not fit in the open dialog, once its fonts are there. */
export async function misfits({ run }: Editor): Promise<string[]> {
  await run('document.fonts.ready.then(() => undefined)');
  return run(
    find(`$('.red-ui-tray').last()[0]`, `$('.red-ui-tray').last().find('form:visible').first()[0]`),
  );
}

/** What does not fit in the tab of the sidebar, at the width it has. */
export async function tabMisfits({ run }: Editor): Promise<string[]> {
  await run('document.fonts.ready.then(() => undefined)');
  return run(find(`$('.device-cloud-fleet').parent()[0]`, `$('.device-cloud-fleet')[0]`));
}

/** Runs in the page: what of the help in the sidebar is cut off or needs scrolling sideways, and its pictures. */
const FIND_IN_HELP = `(() => {
  const help = $('.red-ui-help:visible').last()[0];
  const found = new Set();
  const { left, right } = help.getBoundingClientRect();
  for (const picture of help.querySelectorAll('img')) found.add('picture: ' + picture.alt);
  for (let box = help; box && box.id !== 'red-ui-sidebar-content'; box = box.parentElement) {
    if (box.scrollWidth > box.clientWidth + 1) found.add('wider than its place: ' + box.className);
  }
  const walker = document.createTreeWalker(help, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === '') continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.left < left - 1 || rect.right > right + 1) found.add('outside: ' + node.data.trim());
    }
  }
  return help.clientWidth < 200 ? ['the sidebar is closed'] : [...found];
})()`;

/** What does not fit in the help that the sidebar shows, at the width it has. */
export async function helpMisfits({ run }: Editor): Promise<string[]> {
  await run('document.fonts.ready.then(() => undefined)');
  return run(FIND_IN_HELP);
}
