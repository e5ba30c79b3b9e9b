import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { repository } from '../repository';

const FONT = join(repository, 'node_modules', '@fontsource-variable', 'noto-sans-sc');
const HOST = 'http://font.invalid';

/** The font's Chinese parts, under the name of the font that Node-RED wants first. */
function styles(): string {
  const rules = readFileSync(join(FONT, 'index.css'), 'utf8').split(/(?=\/\*)/);
  return rules
    .filter((rule) => /^\/\* noto-sans-sc-\[\d+\]/.test(rule))
    .join('')
    .replaceAll("'Noto Sans SC Variable'", "'Helvetica Neue'")
    .replaceAll('./files', HOST);
}

/**
 * Gives the pages a Chinese font. Many machines have none, and a box for each character is narrower
 * than the character: a text that is cut would pass for whole.
 */
export async function useChineseFont(context: BrowserContext): Promise<void> {
  await context.route(`${HOST}/**`, (route, request) =>
    route.fulfill({
      path: join(FONT, 'files', basename(new URL(request.url()).pathname)),
      headers: { 'access-control-allow-origin': '*' },
    }),
  );
  const script = `document.addEventListener('DOMContentLoaded', () => {
    const style = document.createElement('style');
    style.textContent = ${JSON.stringify(styles())};
    document.head.append(style);
  });`;
  await context.addInitScript(script);
}
