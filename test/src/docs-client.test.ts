import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DeviceCloudClient } from '../../src/client';
import { CloudClient } from '../../src/cloud-client';
import { repository } from '../tooling/repository';
import { within } from '../tooling/until';

/** The second page uses the beginning and the end of the first. */
const PAGES = ['client.md', 'simulator.md'];
/** Inside the package, so that a snippet finds it by its name. */
const folder = join(repository, '.cache', 'test', 'docs');
const TIME_LIMIT = 40_000;

interface Snippet {
  /** The heading above it. */
  title: string;
  code: string;
}

function snippets(name: string): Snippet[] {
  const page = readFileSync(join(repository, 'docs', 'inside', name), 'utf8');
  const found: Snippet[] = [];
  let title = '';
  let code: string[] | undefined;
  for (const line of page.split('\n')) {
    if (code && line === '```') {
      found.push({ title, code: code.join('\n') });
      code = undefined;
    } else if (code) code.push(line);
    else if (line === '```js') code = [];
    else title = /^#+ (.*)/.exec(line)?.[1] ?? title;
  }
  return found;
}

/** The expected output of a snippet, by its comments; `…` matches anything. */
function promised(code: string): RegExp {
  const lines = [...code.matchAll(/^ *\/\/ → (.*)$/gm)].map(([, text = '']) => `${text}\n`);
  const pattern = lines.join('').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${pattern.replaceAll('…', '[^\\n]*')}$`);
}

/** Runs one module after the other, in a thread, so that one that never ends can be stopped. */
const RUNNER = `
  const { parentPort } = require('node:worker_threads');
  let printed = '';
  process.stdout.write = process.stderr.write = (text) => { printed += text; return true; };
  parentPort.on('message', async (file) => {
    if (file === '') return parentPort.close();
    printed = '';
    try {
      await import(file);
      parentPort.postMessage({ printed });
    } catch (error) {
      parentPort.postMessage({ printed, error: String(error?.stack ?? error) });
    }
  });`;

let runner: Worker | undefined;

/** Runs a module. @returns what it printed */
async function run(file: string): Promise<string> {
  const worker = (runner ??= new Worker(RUNNER, { eval: true, env: {} }));
  const answer = once(worker, 'message') as Promise<[{ printed: string; error?: string }]>;
  worker.postMessage(pathToFileURL(file).href);
  try {
    const [{ printed, error }] = await within(answer, 'the snippet has run', TIME_LIMIT);
    if (error !== undefined) throw new Error(`${printed}${error}`);
    return printed;
  } catch (error) {
    // The next snippet gets a thread that this one has not touched.
    runner = undefined;
    await worker.terminate();
    throw error;
  }
}

describe('docs/inside/client.md and docs/inside/simulator.md', () => {
  const [beginning, end, ...rest] = PAGES.flatMap(snippets);
  before(() => mkdirSync(folder, { recursive: true }));
  after(() => runner?.terminate());

  it('show each call of the client in a snippet', () => {
    const shown = rest.map(({ code }) => code).join('\n') + end?.code;
    const calls = [DeviceCloudClient, CloudClient].flatMap(({ prototype }) =>
      Object.entries(Object.getOwnPropertyDescriptors(prototype))
        .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
        .map(([name]) => name),
    );
    assert.ok(calls.length >= 20);
    assert.deepEqual(
      calls.filter((name) => !shown.includes(`client.${name}(`)),
      [],
    );
  });

  for (const [index, { title, code }] of rest.entries()) {
    it(`${title}: runs, and prints what it says (snippet ${index + 1})`, async () => {
      const file = join(folder, `client-${index + 1}.mjs`);
      writeFileSync(file, [beginning?.code, code, end?.code].join('\n\n'));
      assert.match(await run(file), promised(code));
    });
  }

  it('leave nothing open: the thread ends by itself', async () => {
    const worker = runner;
    assert.ok(worker);
    const ended = once(worker, 'exit') as Promise<[number]>;
    worker.postMessage('');
    assert.deepEqual(await within(ended, 'it ends', TIME_LIMIT), [0]);
  });
});
