import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium as launcher } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { repository } from '../e2e/harness/packed';

/** Node-RED's editor in a browser. */
export interface Editor {
  page: Page;
  /** What went wrong on the page: errors and warnings of its console, and exceptions. */
  problems: string[];
  /** Runs a script in the page, which has types of its own. */
  run: <T>(script: string) => Promise<T>;
  /** Keeps a picture for a person to look at, in a folder that git ignores. */
  picture: (name: string) => Promise<void>;
  close: () => Promise<void>;
}

let browser: Promise<Browser> | undefined;

after(async () => {
  await (await browser)?.close();
});

/** Chromium comes from the registry like any other package, so that nothing has to be installed. */
async function launch(): Promise<Browser> {
  const { default: chromium } = await import('@sparticuz/chromium');
  const executablePath = await chromium.executablePath();
  // Its own arguments are for a cloud function: with them all pages live and die as one process.
  return launcher.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    // An exception in `oneditprepare` is only logged, as plain text.
    const serious = ['error', 'warning'].includes(message.type());
    if (serious || /oneditprepare|oneditsave|Error/.test(message.text())) {
      problems.push(`${message.text()} (${message.location().url})`);
    }
  });
  page.on('pageerror', (error) => problems.push(error.message));
  return problems;
}

/** Opens the editor of a running Node-RED in a language. */
export async function openEditor(url: string, language = 'en-US'): Promise<Editor> {
  browser ??= launch();
  const viewport = { width: 1280, height: 1100 };
  const context = await (await browser).newContext({ viewport, locale: language });
  const page = await context.newPage();
  // Sooner than the test's own, so that the failure names the step.
  page.setDefaultTimeout(15_000);
  const problems = watch(page);
  await page.goto(url);
  await page.waitForSelector('.red-ui-palette-node[data-palette-type="device-cloud-listen"]');
  await page.waitForFunction('RED.nodes.getWorkspaceOrder().length > 0');
  await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
  const folder = join(repository, 'screenshots', 'editor', language);
  mkdirSync(folder, { recursive: true });
  return {
    page,
    problems,
    run: <T>(script: string) => page.evaluate<T>(script),
    picture: async (name) => {
      await page.screenshot({ path: join(folder, `${name}.png`) });
    },
    close: () => context.close(),
  };
}

/** What Node-RED is started with, so that the page asks nothing of the world outside. */
export const EDITOR_SETTINGS = {
  editorTheme: { tours: false, palette: { catalogues: [] } },
};
