import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CODES } from '../../src/errors';
import * as assumptions from '../../src/simulator/assumptions';
import { repository } from '../../tooling/repository';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

const folder = (path: string): string[] =>
  readdirSync(join(repository, path))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(path, name));

/** The anchor of each heading, as the site that shows the pages makes it. */
const anchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('the pages', () => {
  const pages = [...folder('.'), ...folder('docs')];

  for (const page of pages) {
    it(`${page}: every link of its own leads somewhere`, () => {
      for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(join(repository, file)), target);
        if (anchor) assert.ok(anchors(read(file)).includes(anchor), target);
      }
    });
  }

  /** The pages of docs/ in the order of their index, in one language. */
  const chain = (isChinese: boolean): string[] =>
    [...read('docs/README.md').matchAll(/\]\(([\w.-]+\.md)\)/g)]
      .map(([, page = '']) => page)
      .filter((page) => page.includes('zh-CN') === isChinese);

  it('of docs/ are in its index, each once', () => {
    const names = folder('docs').map((page) => page.slice('docs/'.length));
    const listed = [...chain(false), ...chain(true)].sort();
    assert.deepEqual(listed, names.filter((name) => name !== 'README.md').sort());
  });

  it('of docs/ end with a way back to the index and on to the next page', () => {
    for (const pages of [chain(false), chain(true)]) {
      pages.forEach((page, index) => {
        const last = read(`docs/${page}`).trimEnd().split('\n').at(-1) ?? '';
        const next = pages[index + 1];
        const targets = [...last.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
        assert.deepEqual(targets, ['README.md', ...(next ? [next] : [])], page);
      });
    }
  });

  it('of docs/ in two languages lead to each other', () => {
    for (const page of chain(true)) {
      const english = page.replace('.zh-CN', '');
      assert.ok(read(`docs/${english}`).includes(`[中文](${page})`), english);
      assert.ok(read(`docs/${page}`).includes(`[English](${english})`), page);
    }
  });

  it('use each picture of docs/images, none of them large, and show no English one in Chinese', () => {
    const text = pages.map((page) => read(page)).join('');
    const names = readdirSync(join(repository, 'docs', 'images'));
    assert.deepEqual(
      names.filter((name) => !text.includes(`images/${name}`)),
      [],
    );
    for (const page of chain(true)) assert.doesNotMatch(read(`docs/${page}`), /en-US\.png/, page);
    for (const name of names) {
      const { size } = statSync(join(repository, 'docs', 'images', name));
      assert.ok(size < 600_000, `${name}: ${size} bytes`);
    }
  });

  it('name the versions of package.json, and no other as the oldest', () => {
    const manifest = JSON.parse(read('package.json')) as {
      engines: { node: string };
      'node-red': { version: string };
    };
    const text = pages.map((page) => read(page)).join('');
    const oldest = (what: string): string[] => {
      const named = new RegExp(`${what} ([\\d.]+\\d) (?:or newer|或更高版本)`, 'g');
      return [...new Set([...text.matchAll(named)].map(([, version = '']) => version))];
    };
    assert.deepEqual(oldest('Node\\.js'), [manifest.engines.node.slice('>='.length)]);
    assert.deepEqual(
      oldest('Node-RED').map((version) => `>=${version}.0`),
      [manifest['node-red'].version],
    );
  });

  it('of the repository: CONTRIBUTING says where to find what, the architecture names each folder of src/', () => {
    const page = read('CONTRIBUTING.md');
    const answers = [...page.matchAll(/^\|[^|]*\| `(src\/[\w./-]+)` *\|$/gm)];
    assert.ok(answers.length >= 5);
    for (const [, path = ''] of answers) assert.ok(existsSync(join(repository, path)), path);
    assert.ok(page.length <= 8192, `CONTRIBUTING has ${page.length} characters`);
    const text = read('docs/architecture.md');
    for (const entry of readdirSync(join(repository, 'src'), { withFileTypes: true })) {
      if (entry.isDirectory()) assert.ok(text.includes(`\`src/${entry.name}/\``), entry.name);
    }
  });

  it('name each error code once in the table of docs/errors.md, and no other', () => {
    const named = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code);
    assert.deepEqual(named.sort(), [...ERROR_CODES].sort());
  });

  it('name each assumption of the simulator in docs/open-questions.md', () => {
    const page = read('docs/open-questions.md');
    const missing = Object.keys(assumptions).filter((name) => !page.includes(`\`${name}\``));
    assert.deepEqual(missing, []);
  });
});
