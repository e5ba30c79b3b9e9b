import type { Editor } from './browser';

/** As little as WCAG 2 asks of large text and of icons; Node-RED's own pale texts are not much above it. */
const LEAST = 3;
/** As much as it asks of any other text. */
export const TEXT = 4.5;

/** Of the scripts below: the colours as they are seen, and their contrast. */
const MEASURE = `const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  // Paints the layers one over the other, and reads what the eye sees: any notation of a colour will do.
  const seen = (layers) => {
    paint.globalAlpha = 1;
    for (const { colour, alpha = 1 } of layers) {
      paint.globalAlpha = alpha;
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
    }
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => rgb
    .map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const up = (element) => element ? [...up(element.parentElement), element] : [];`;

/** Runs in the page: the texts and icons of a part of it that hardly differ from what is behind them. */
const find = (part: string, text: number): string => `(() => {
  const form = ${part};
  ${MEASURE}
  const judge = (element, what, colour, least = ${text}) => {
    const styles = up(element).map((box) => getComputedStyle(box));
    const behind = [{ colour: 'white' }, ...styles.map((style) => ({ colour: style.backgroundColor }))];
    // The page as a whole is not painted in these tests (browser.ts).
    const alpha = styles.slice(1).reduce((product, style) => product * Number(style.opacity), 1);
    const ratio = contrast(seen(behind), seen([...behind, { colour, alpha }]));
    return ratio < least ? [what.trim() + ' (' + ratio.toFixed(1) + ')'] : [];
  };

  const found = [];
  const walker = document.createTreeWalker(form, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || element.getClientRects().length === 0 || element.closest('option, :disabled')) continue;
    const isSmall = element.closest('.device-cloud-note, small, button')?.matches('.device-cloud-note, small') ?? false;
    found.push(...judge(element, node.data, getComputedStyle(element).color, isSmall ? ${TEXT} : ${text}));
  }
  for (const field of $(form).find('input, select, textarea').toArray()) {
    if (field.getClientRects().length === 0 || field.disabled || field.value === '') continue;
    found.push(...judge(field, field.value, getComputedStyle(field).color));
  }
  for (const icon of $(form).find('label i.fa, .device-cloud-result i.fa, .device-cloud-fleet-actions i.fa').toArray()) {
    if (icon.getClientRects().length === 0 || icon.closest(':disabled, .disabled')) continue;
    found.push(...judge(icon, icon.className, getComputedStyle(icon).color, ${LEAST}));
  }
  for (const dot of $(form).find('.device-cloud-fleet-dot').toArray()) {
    found.push(...judge(dot.parentElement, 'dot', getComputedStyle(dot).borderTopColor, ${LEAST}));
  }
  for (const field of $(form).find('.device-cloud-fleet-filters input').toArray()) {
    const { color, opacity } = getComputedStyle(field, '::placeholder');
    const ratio = contrast(...[[], [{ colour: color, alpha: Number(opacity) }]].map((above) =>
      seen([...up(field).map((box) => ({ colour: getComputedStyle(box).backgroundColor })), ...above])));
    if (ratio < ${TEXT}) found.push('placeholder (' + ratio.toFixed(1) + ')');
  }
  return found;
})()`;

/** The texts and icons of the open dialog that can hardly be read, with their contrast. */
export function faint({ run }: Editor): Promise<string[]> {
  return run(find(`$('.red-ui-tray').last().find('form:visible').first()[0]`, LEAST));
}

/** The same of the tab of the sidebar, of which all is small. */
export function tabFaint({ run }: Editor): Promise<string[]> {
  return run(find(`$('.device-cloud-fleet')[0]`, TEXT));
}

/** Runs in the page: what a label and the white icon of a node of ours in the palette are seen on. */
const PALETTE = `(() => {
  ${MEASURE}
  return $('.red-ui-palette-node[data-palette-type^=device-cloud]').toArray().map((node) => {
    const over = (element, colour) => {
      const behind = [{ colour: 'white' }, ...up(element).map((box) => ({ colour: getComputedStyle(box).backgroundColor }))];
      return contrast(seen(behind), seen([...behind, { colour }]));
    };
    const label = $(node).find('.red-ui-palette-label')[0];
    return {
      type: node.dataset.paletteType.replace('device-cloud-', ''),
      label: over(label, getComputedStyle(label).color),
      icon: over($(node).find('.red-ui-palette-icon-container')[0], 'white'),
    };
  });
})()`;

/** A node in the palette, with the contrast of its label and of its icon. */
export interface PaletteNode {
  type: string;
  label: number;
  icon: number;
}

/** This package's nodes, in the order of the palette. */
export function paletteNodes({ run }: Editor): Promise<PaletteNode[]> {
  return run(PALETTE);
}

/** Draws the editor in the dark theme, if Node-RED has one. @returns whether it has */
export async function useDarkTheme({ page, run }: Editor): Promise<boolean> {
  const major = await run<number>('parseInt(RED.settings.version, 10)');
  if (major < 5) return false;
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForSelector('html.nr-theme-dark');
  return true;
}

/**
 * Calls `look` in the light theme and, where Node-RED has one, in the dark; in Chinese in the light one alone, since no
 * colour depends on the language, and to change the theme draws the whole editor anew.
 */
export async function inEachTheme(
  editor: Editor,
  look: (theme: 'light' | 'dark') => Promise<void>,
): Promise<void> {
  await look('light');
  if (await editor.run<boolean>(`navigator.language === 'zh-CN'`)) return;
  if (!(await useDarkTheme(editor))) return;
  try {
    await look('dark');
  } finally {
    await editor.page.emulateMedia({ colorScheme: 'light' });
    await editor.page.waitForSelector('html:not(.nr-theme-dark)');
  }
}
