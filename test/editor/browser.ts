import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../tooling/editor/chromium';
import type { Editor as Driven } from '../tooling/editor/dialog';
import { repository } from '../tooling/repository';
import { openPage, type PageOptions } from '../tooling/editor/page';

/** Node-RED's editor in a browser. */
export interface Editor extends Driven {
  /** What went wrong on the page: errors and warnings of its console, and exceptions. */
  problems: string[];
  /** The addresses that the page has requested so far. */
  requested: string[];
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

export type EditorOptions = Pick<PageOptions, 'language' | 'user'>;

/** Without what slides and fades, and unseen: painting that took more than half of the browser's time. */
const STILL = `document.addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = ':root { opacity: 0 } *, ::before, ::after { transition: none !important; animation: none !important }';
  document.head.append(style);
  jQuery.fx.off = true;
})`;

/** Keeps the page's connection to Node-RED, over which {@link receive} gives it messages. */
const KEPT_SOCKET = `window.WebSocket = class extends WebSocket {
  constructor(...values) {
    super(...values);
    window.socketForTests = this;
  }
}`;

/** Gives the page a message as if Node-RED had sent it. */
export const receive = ({ run }: Editor, topic: string, data: object): Promise<void> =>
  run(
    `void socketForTests.onmessage({ data: ${JSON.stringify(JSON.stringify([{ topic, data }]))} })`,
  );

/** Opens the editor of a running Node-RED. */
export async function openEditor(url: string, options: EditorOptions = {}): Promise<Editor> {
  const { language = 'en-US' } = options;
  let problems: string[] = [];
  const requested: string[] = [];
  const page = await openPage(browser!, url, {
    ...options,
    async prepare(fresh) {
      await fresh.addInitScript(`${STILL};\n${KEPT_SOCKET}`);
      problems = watch(fresh);
      fresh.on('request', (request) => requested.push(request.url()));
    },
    onLogin() {
      // It is by a 401 that the editor knows to ask for a log-in, and the browser logs it.
      problems.push(...problems.splice(0).filter((text) => !/401.*\/settings/.test(text)));
    },
  });
  const version = await page.evaluate<string>('RED.settings.version');
  const folder = join(repository, 'screenshots', 'editor', version, language);
  const keepPicture = async (name: string): Promise<void> => {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${name.replace(/\W+/g, '-')}.png`);
    await page.screenshot({ path, style: ':root { opacity: 1 !important }' });
  };
  return {
    page,
    problems,
    requested,
    run: <T>(script: string) => page.evaluate<T>(script),
    picture: async (name) => {
      if (process.env['PICTURES']) await keepPicture(name);
    },
    keepPicture,
    close: () => page.close(),
  };
}
