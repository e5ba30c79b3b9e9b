import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { User } from '../e2e/harness/admin';
import { launchBrowser } from '../e2e/harness/chromium';
import { repository } from '../support/repository';
import { useChineseFont } from './chinese-font';

/** Node-RED's editor in a browser. */
export interface Editor {
  page: Page;
  /** What went wrong on the page: errors and warnings of its console, and exceptions. */
  problems: string[];
  /** Runs a script in the page, which has types of its own. */
  run: <T>(script: string) => Promise<T>;
  /** Keeps a picture for a person who has asked for pictures, in a folder that git ignores. */
  picture: (name: string) => Promise<void>;
  /** Keeps a picture in any case, of what went wrong. */
  keepPicture: (name: string) => Promise<void>;
  close: () => Promise<void>;
}

let browser: Browser | undefined;

// Where there is none, no test starts a Node-RED that it could not end.
before(async () => {
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
});

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

export interface EditorOptions {
  language?: string | undefined;
  /** Who logs in, where Node-RED wants to know. */
  user?: User;
}

/** Without what slides and fades: painting that took half of the browser's time. */
const STILL = `document.addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '*, ::before, ::after { transition: none !important; animation: none !important }';
  document.head.append(style);
  jQuery.fx.off = true;
})`;

/** Opens the editor of a running Node-RED. */
export async function openEditor(url: string, options: EditorOptions = {}): Promise<Editor> {
  const { language = 'en-US', user } = options;
  const viewport = { width: 1280, height: 1100 };
  const context = await browser!.newContext({ viewport, locale: language });
  if (language === 'zh-CN') await useChineseFont(context);
  // Node-RED 5 is dark when the system is.
  await context.addInitScript(`localStorage.setItem('view-dark-theme', 'auto')`);
  await context.addInitScript(STILL);
  const page = await context.newPage();
  // Sooner than the test's own, so that the failure names the step.
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  await page.goto(url);
  if (user) {
    await page.waitForSelector('#node-dialog-login-username');
    // It is by a 401 that the editor knows to ask for a log-in, and the browser logs it.
    const before = problems.splice(0).filter((text) => !/401.*\/settings/.test(text));
    problems.push(...before);
    await logIn(page, user);
  }
  await page.waitForSelector('.red-ui-palette-node[data-palette-type="device-cloud-listen"]');
  await page.waitForFunction('RED.nodes.getWorkspaceOrder().length > 0');
  await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
  const version = await page.evaluate<string>('RED.settings.version');
  const folder = join(repository, 'screenshots', 'editor', version, language);
  const keepPicture = async (name: string): Promise<void> => {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name.replace(/\W+/g, '-')}.png`) });
  };
  return {
    page,
    problems,
    run: <T>(script: string) => page.evaluate<T>(script),
    picture: async (name) => {
      if (process.env['PICTURES']) await keepPicture(name);
    },
    keepPicture,
    close: () => context.close(),
  };
}

async function logIn(page: Page, { username, password }: User): Promise<void> {
  await page.fill('#node-dialog-login-username', username);
  await page.fill('#node-dialog-login-password', password);
  await page.click('#node-dialog-login-submit');
}

/** What Node-RED is started with, so that the page asks nothing of the world outside. */
export const EDITOR_SETTINGS = {
  editorTheme: { tours: false, palette: { catalogues: [] } },
};
