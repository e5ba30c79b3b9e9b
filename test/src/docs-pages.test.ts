import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ERROR_CODES } from '../../src/errors';
import { repository } from '../tooling/repository';
import { NODES, read } from './support/catalogues';

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

/** The two halves: how to use it, and what is inside. */
const HALVES = ['docs/use', 'docs/inside'];

const isChinese = (page: string): boolean => page.endsWith('.zh-CN.md');

describe('the pages', () => {
  const inHalves = HALVES.flatMap(folder);
  const pages = [...folder('.'), ...folder('docs'), ...inHalves];
  const helps = NODES.flatMap((node) =>
    ['en-US', 'zh-CN'].map((language) => `nodes/${node}/locales/${language}.md`),
  );

  for (const page of [...pages, ...helps]) {
    it(`${page}: every link of its own leads somewhere`, () => {
      for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', anchor] = decodeURI(target).split('#');
        const file = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(join(repository, file)), target);
        if (anchor) assert.ok(anchors(read(file)).includes(anchor), target);
      }
    });
  }

  it('of docs/ are in the index of their language, each once', () => {
    for (const [index, pages] of [
      ['docs/README.md', inHalves.filter((page) => !isChinese(page))],
      ['docs/README.zh-CN.md', inHalves.filter(isChinese)],
    ] as const) {
      const rows = [...read(index).matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm)];
      const listed = rows.map(([, page = '']) => join('docs', page));
      // The Chinese index also names pages that are in English alone.
      const own = isChinese(index) ? listed.filter(isChinese) : listed;
      assert.deepEqual(own.sort(), [...pages].sort(), index);
    }
  });

  it('of docs/ in two languages lead to each other', () => {
    const both = inHalves.filter(isChinese).map((page) => basename(page));
    assert.ok(both.length >= 10);
    for (const name of both) {
      const english = name.replace('.zh-CN', '');
      assert.ok(read(`docs/use/${english}`).includes(`[中文](${name})`), english);
      assert.ok(read(`docs/use/${name}`).includes(`[English](${english})`), name);
    }
  });

  it('of the site are laid out without a dead link, with one for each node in both languages', () => {
    const site = mkdtempSync(join(tmpdir(), 'site-'));
    try {
      const script = join(repository, 'docs', 'site', 'stage.mjs');
      const program = `import(${JSON.stringify(pathToFileURL(script).href)}).then(({ stage }) => stage(process.argv[1]))`;
      execFileSync(process.execPath, ['-e', program, site], { stdio: 'pipe' });
      const manifest = JSON.parse(read('package.json')) as { 'node-red': { nodes: object } };
      for (const node of Object.keys(manifest['node-red'].nodes)) {
        for (const language of ['', 'zh']) {
          const page = readFileSync(join(site, language, 'use', 'nodes', `${node}.md`), 'utf8');
          assert.match(page, new RegExp(`^# .+\n\n\`device-cloud-${node}\``));
        }
      }
      for (const page of inHalves.filter((each) => !isChinese(each))) {
        assert.ok(existsSync(join(site, page.replace('docs/', ''))), page);
        assert.ok(existsSync(join(site, page.replace('docs/', 'zh/'))), page);
      }
    } finally {
      rmSync(site, { recursive: true });
    }
  });

  it('use each picture of docs/images, and show no English one in Chinese', () => {
    const text = pages.map((page) => read(page)).join('');
    const names = readdirSync(join(repository, 'docs', 'images'));
    assert.deepEqual(
      names.filter((name) => !text.includes(`images/${name}`)),
      [],
    );
    for (const page of pages.filter(isChinese)) assert.doesNotMatch(read(page), /en-US\.png/, page);
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
    const answers = [...page.matchAll(/`((?:src|nodes|test\/tooling)\/[\w./-]*)`/g)];
    const paths = answers.map(([, path = '']) => path).filter((path) => !/\/x[/.]/.test(path));
    assert.ok(paths.length >= 20);
    for (const path of paths) assert.ok(existsSync(join(repository, path)), path);
    const text = read('docs/inside/architecture.md');
    for (const entry of readdirSync(join(repository, 'src'), { withFileTypes: true })) {
      if (entry.isDirectory()) assert.ok(text.includes(`\`src/${entry.name}/\``), entry.name);
    }
  });

  it('name each error code once in the list of docs/use/errors.md, and no other', () => {
    const named = [...read('docs/use/errors.md').matchAll(/^- `([A-Z_]+)`/gm)].map(
      ([, code]) => code,
    );
    assert.deepEqual(named.sort(), [...ERROR_CODES].sort());
  });

  it('name the section of each assumption of the simulator in docs/inside/open-questions.md', () => {
    const folder = join('src', 'simulator');
    const code = readdirSync(join(repository, folder)).map((name) => read(`${folder}/${name}`));
    const cited = code
      .flatMap((text) => [
        ...text.replace(/\n\s*(\/\/|\*)?/g, ' ').matchAll(/[Aa]ssumed[^()]*\(([\d., to]+)\)/g),
      ])
      .flatMap(([, sections = '']) => sections.match(/\d+(\.\d+)*/g) ?? []);
    const [, list = ''] = read('docs/inside/open-questions.md').split('## Only in the simulator');
    const named = [...list.matchAll(/^- ([\d., to]+):/gm)].map(([, sections = '']) => sections);
    assert.ok(cited.length > 15);
    const missing = cited.filter((section) => !named.some((row) => row.includes(section)));
    assert.deepEqual(missing, []);
  });
});
