import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
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

  it('of docs/ are all in its index', () => {
    const index = read('docs/README.md');
    for (const page of folder('docs').filter((each) => !each.endsWith('README.md'))) {
      assert.ok(index.includes(`](${page.slice('docs/'.length)})`), page);
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
