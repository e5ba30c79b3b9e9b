import type { Browser, Page } from 'playwright-core';
import { useChineseFont } from './chinese-font';

/** Someone who may log in to Node-RED. */
export interface User {
  username: string;
  password: string;
}

/** What Node-RED is started with, so that the page asks nothing of the world outside. */
export const EDITOR_SETTINGS = {
  editorTheme: { tours: false, palette: { catalogues: [] } },
} as const;

export interface PageOptions {
  language?: string | undefined;
  /** The choice in the editor's settings; an editor without themes does not look at it. */
  theme?: 'light' | 'dark' | 'auto';
  height?: number;
  /** Who logs in, where Node-RED wants to know. */
  user?: User | undefined;
  /** Called with the page before it is loaded. */
  prepare?: (page: Page) => void | Promise<void>;
  /** Called when the editor asks for a log-in. */
  onLogin?: () => void;
}

const OURS = '.red-ui-palette-node[data-palette-type="device-cloud-listen"]';

/** Opens the editor of a running Node-RED in a browser context of its own, and waits until it is ready. */
export async function openPage(browser: Browser, url: string, options: PageOptions = {}) {
  const { language = 'en-US', theme = 'auto', height = 1100, user, prepare, onLogin } = options;
  const viewport = { width: 1280, height };
  const context = await browser.newContext({ viewport, locale: language });
  if (language === 'zh-CN') await useChineseFont(context);
  await context.addInitScript(`localStorage.setItem('view-dark-theme', '${theme}')`);
  const page = await context.newPage();
  // Sooner than a test's own, so that the failure names the step.
  page.setDefaultTimeout(45_000);
  await prepare?.(page);
  await page.goto(url);
  if (user) {
    await page.waitForSelector('#node-dialog-login-username');
    onLogin?.();
    await page.fill('#node-dialog-login-username', user.username);
    await page.fill('#node-dialog-login-password', user.password);
    await page.click('#node-dialog-login-submit');
  }
  await page.waitForSelector(OURS);
  await page.waitForFunction('RED.nodes.getWorkspaceOrder().length > 0');
  await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
  return page;
}
