import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { SetupError, root } from '../../scripts/npm.mjs';
import { helpPage, nodeLabel, nodeNames } from './help.mjs';

/*
 * Lays out the pages of docs/ as the site has them. In the repository a Chinese page is `x.zh-CN.md` beside `x.md`, and
 * all links work there; on the site it is `zh/x`, and what lies outside docs/ is a page or a file of the site, too.
 */

const HALVES = ['use', 'inside'];
const CHINESE = '.zh-CN.md';

/** Pages that lie at the root of the repository, where people look for them. */
const ROOT_PAGES = {
  'CONTRIBUTING.md': 'inside/contributing.md',
  'SECURITY.md': 'inside/security.md',
  'CHANGELOG.md': 'inside/changelog.md',
};

const HERO = 'docs/images/dashboard.png';

const HOME = /^(docs\/)?README(\.zh-CN)?\.md$/;
const HELP = /^nodes\/([a-z-]+)\/locales\/(en-US|zh-CN)\.md$/;

const read = (path) => readFileSync(join(root, path), 'utf8');

/** Where a page of the repository is on the site; undefined if the site does not have it. */
function placeOf(path) {
  if (HOME.test(path)) return path.endsWith(CHINESE) ? 'zh/index.md' : 'index.md';
  if (ROOT_PAGES[path]) return ROOT_PAGES[path];
  const [, node, language] = HELP.exec(path) ?? [];
  if (node) return `${language === 'zh-CN' ? 'zh/' : ''}use/nodes/${node}.md`;
  const page = path.replace(/^docs\//, '');
  if (!path.startsWith('docs/') || !path.endsWith('.md')) return undefined;
  return page.endsWith(CHINESE) ? `zh/${page.replace(CHINESE, '.md')}` : page;
}

class Site {
  #folder;
  /** The pages by their place, as Markdown. */
  #pages = new Map();

  constructor(folder) {
    this.#folder = folder;
  }

  /** @param source the path whose links the text has */
  add(source, text, place = placeOf(source)) {
    this.#pages.set(place, { source, text });
  }

  has = (place) => this.#pages.has(place);

  write() {
    for (const [place, { source, text }] of this.#pages) {
      const file = join(this.#folder, place);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.#linked(text, source, place));
    }
  }

  /** A link or a picture in Markdown that is not of another site. */
  #linked(text, source, place) {
    return text.replace(
      /(!?\[[^\]]*\]\()(?![a-z]+:|#|\/)([^)\s#]+)([^)\s]*)(?=\))/g,
      (...parts) => {
        const [, label, target, anchor] = parts;
        const path = posix.normalize(posix.join(posix.dirname(source), decodeURI(target)));
        if (!existsSync(join(root, path)))
          throw new SetupError(`${source}: a dead link, ${target}`);
        const to = placeOf(path) ?? this.#file(path);
        const relative = posix.relative(posix.dirname(place), to);
        const isPage = placeOf(path) !== undefined;
        if (isPage && !this.has(to)) throw new SetupError(`${source}: no page for ${target}`);
        const address =
          isPage || label.startsWith('!') ? relative : `/${to.replace('public/', '')}`;
        return `${label}${encodeURI(address.startsWith('.') || !isPage ? address : `./${address}`)}${anchor}`;
      },
    );
  }

  /** A file that is no page: copied, so that the site is whole. */
  #file(path) {
    if (path.startsWith('docs/images/')) return path.replace('docs/', '');
    // A browser shows text only if the name says that it is some.
    const name = /\.[a-z]+$/.test(path) ? path : `${path}.txt`;
    const place = `public/files/${name.replace(/^docs\//, '').replaceAll(' ', '-')}`;
    const file = join(this.#folder, place);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(root, path), file);
    return place;
  }
}

/** Leaves out what the site has around each page: the way back, and the other language. */
const bare = (text) =>
  text
    .replace(/\n---\n\n\[(All pages|全部页面)\]\([^)]*\)\s*$/, '\n')
    .replace(/^\[(中文|English)\]\([^)]*\)\n\n/m, '');

/** A Chinese reader who switches the language on an English page gets here. */
const onlyEnglish = (title, page) =>
  `---\nsearch: false\n---\n\n# ${title}\n\n这一页只有英文版：[${title}](/${page.replace('.md', '')})。\n`;

/**
 * The sidebar, from an index of the pages: a group for each bold line, an entry for each row of the table below it.
 * @param site which has all pages
 */
function sidebar(index, language) {
  const groups = [];
  for (const line of read(index).split('\n')) {
    const [, group] = /^\*\*(.+)\*\*$/.exec(line) ?? /^## (.+)$/.exec(line) ?? [];
    if (group) groups.push({ text: group, items: [] });
    const [, text, link] = /^\| \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? [];
    if (!text) continue;
    const place = placeOf(posix.normalize(posix.join('docs', link)));
    groups.at(-1).items.push({ text, link: `/${place.replace('.md', '')}` });
  }
  const nodes = nodeNames().map((name) => ({
    text: nodeLabel(name, language),
    link: `/${language === 'zh-CN' ? 'zh/' : ''}use/nodes/${name}`,
  }));
  const text = language === 'zh-CN' ? '节点' : 'Nodes';
  const filled = groups.filter(({ items }) => items.length > 0);
  return [...filled.slice(0, 1), { text, items: nodes, collapsed: true }, ...filled.slice(1)];
}

/**
 * Writes the site's sources into a folder.
 * @throws SetupError if a link leads nowhere
 */
export function stage(folder) {
  for (const name of ['index.md', 'zh', 'public', 'images', ...HALVES]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  mkdirSync(join(folder, '.vitepress'), { recursive: true });
  const site = new Site(folder);
  site.add('docs/site/home.en-US.md', read('docs/site/home.en-US.md'), 'index.md');
  site.add('docs/site/home.zh-CN.md', read('docs/site/home.zh-CN.md'), 'zh/index.md');
  for (const half of HALVES) {
    for (const name of readdirSync(join(root, 'docs', half)).filter((each) => /\.md$/.test(each))) {
      site.add(`docs/${half}/${name}`, bare(read(`docs/${half}/${name}`)));
    }
  }
  for (const path of Object.keys(ROOT_PAGES)) site.add(path, read(path));
  for (const name of nodeNames()) {
    for (const language of ['en-US', 'zh-CN']) {
      site.add(`nodes/${name}/locales/${language}.md`, helpPage(name, language));
    }
  }
  for (const [place, text] of englishOnly(site)) site.add('docs/README.md', text, place);
  site.write();
  cpSync(join(root, 'docs', 'images'), join(folder, 'images'), { recursive: true });
  // Named by the front pages, whose head is no Markdown.
  cpSync(join(root, HERO), join(folder, 'public', 'images', 'dashboard.png'));
  // Where programs look for it.
  cpSync(join(root, 'llms.txt'), join(folder, 'public', 'llms.txt'));
  const sidebars = {
    root: sidebar('docs/README.md', 'en-US'),
    zh: sidebar('docs/README.zh-CN.md', 'zh-CN'),
  };
  writeFileSync(join(folder, '.vitepress', 'sidebars.json'), JSON.stringify(sidebars));
  const own = {
    'config.mjs': '../../site/config.mjs',
    'theme/index.mjs': '../../../site/theme.mjs',
  };
  for (const [name, from] of Object.entries(own)) {
    const file = join(folder, '.vitepress', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `export { default } from '${from}';\n`);
  }
}

function englishOnly(site) {
  const pages = HALVES.flatMap((half) =>
    readdirSync(join(root, 'docs', half)).map((name) => `docs/${half}/${name}`),
  );
  return [...pages, ...Object.keys(ROOT_PAGES)]
    .filter((path) => path.endsWith('.md') && !path.endsWith(CHINESE))
    .map((path) => [path, placeOf(path)])
    .filter(([, place]) => !site.has(`zh/${place}`))
    .map(([path, place]) => [
      `zh/${place}`,
      onlyEnglish(/^# (.*)$/m.exec(read(path))?.[1] ?? place, place),
    ]);
}
