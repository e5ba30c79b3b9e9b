import type { Browser, BrowserContext, Page } from 'playwright-core';
import { useChineseFont } from './chinese-font';

/** Someone who may log in to Node-RED. */
export interface User {
  username: string;
  password: string;
}

/** What Node-RED is started with, so that the page asks nothing of the world outside. */
export const EDITOR_SETTINGS = {
  // Monaco, the usual editor of code, is most of what the page loads, and no dialog of ours has one.
  editorTheme: { tours: false, palette: { catalogues: [] }, codeEditor: { lib: 'ace' } },
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

/** The browser's profile for a language: pages that share it load what another one has loaded from its cache. */
const contexts = new WeakMap<Browser, Map<string, Promise<BrowserContext>>>();

async function newContext(browser: Browser, locale: string): Promise<BrowserContext> {
  const context = await browser.newContext({ locale });
  if (locale === 'zh-CN') await useChineseFont(context);
  return context;
}

function contextFor(browser: Browser, locale: string): Promise<BrowserContext> {
  const known = contexts.get(browser) ?? new Map<string, Promise<BrowserContext>>();
  contexts.set(browser, known);
  const context = known.get(locale) ?? newContext(browser, locale);
  known.set(locale, context);
  return context;
}

/** Forgets what an earlier page has stored, at the first load of a page alone. */
const fresh = (theme: string): string => `if (!sessionStorage.getItem('fresh')) {
  localStorage.clear();
  localStorage.setItem('view-dark-theme', '${theme}');
  sessionStorage.setItem('fresh', 'no');
}`;

/** Opens the editor of a running Node-RED as a browser without a past would, and waits until it is ready. */
export async function openPage(
  browser: Browser,
  url: string,
  options: PageOptions = {},
): Promise<Page> {
  const { language = 'en-US', theme = 'auto', height = 1100, user, prepare, onLogin } = options;
  const page = await (await contextFor(browser, language)).newPage();
  await page.setViewportSize({ width: 1280, height });
  await page.addInitScript(fresh(theme));
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
