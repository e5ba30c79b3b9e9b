import type { Editor } from './browser';

/** As little as WCAG 2 asks of large text; Node-RED's own pale texts are not much above it. */
const LEAST = 3;

/** Runs in the page: the texts of the open dialog that hardly differ from what is behind them. */
const FIND = `(() => {
  const form = $('.red-ui-tray').last().find('form:visible').first()[0];
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
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
  const up = (element) => element ? [...up(element.parentElement), element] : [];
  const judge = (element, what, colour) => {
    const styles = up(element).map((box) => getComputedStyle(box));
    const behind = [{ colour: 'white' }, ...styles.map((style) => ({ colour: style.backgroundColor }))];
    const alpha = styles.reduce((product, style) => product * Number(style.opacity), 1);
    const ratio = contrast(seen(behind), seen([...behind, { colour, alpha }]));
    return ratio < ${LEAST} ? [what.trim() + ' (' + ratio.toFixed(1) + ')'] : [];
  };

  const found = [];
  const walker = document.createTreeWalker(form, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || element.getClientRects().length === 0 || element.closest('option')) continue;
    found.push(...judge(element, node.data, getComputedStyle(element).color));
  }
  for (const field of $(form).find('input, select, textarea').toArray()) {
    if (field.getClientRects().length === 0 || field.disabled || field.value === '') continue;
    found.push(...judge(field, field.value, getComputedStyle(field).color));
  }
  for (const icon of $(form).find('label i.fa, .device-cloud-result i.fa').toArray()) {
    if (icon.getClientRects().length === 0 || icon.closest(':disabled, .disabled')) continue;
    found.push(...judge(icon, icon.className, getComputedStyle(icon).color));
  }
  return found;
})()`;

/** The texts and icons of the open dialog that can hardly be read, with their contrast. */
export function faint({ run }: Editor): Promise<string[]> {
  return run(FIND);
}

/** Calls `look` in the light theme and, where Node-RED has one, in the dark. */
export async function inEachTheme(
  { page, run }: Editor,
  look: (theme: 'light' | 'dark') => Promise<void>,
): Promise<void> {
  await look('light');
  const major = await run<number>('parseInt(RED.settings.version, 10)');
  if (major < 5) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForSelector('html.nr-theme-dark');
  try {
    await look('dark');
  } finally {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.waitForSelector('html:not(.nr-theme-dark)');
  }
}
