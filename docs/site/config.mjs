import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';

/* The site of the documentation. stage.mjs lays out its pages beside this configuration. */

const folder = new URL('../.site/.vitepress/', import.meta.url);
const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const sidebars = JSON.parse(readFileSync(new URL('sidebars.json', folder), 'utf8'));

/** The anchor of a heading as GitHub makes it, so that a link works in the repository and on the site. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

/** Words for the search: Chinese has no spaces, so each two characters in a row are one. It is run in the browser. */
const tokenize = (text) =>
  text
    .toLowerCase()
    .split(/[\s\p{P}\p{S}]+/u)
    .flatMap((part) => part.split(/(\p{Script=Han}+)/u))
    .flatMap((part) => {
      const characters = [...part];
      if (!/\p{Script=Han}/u.test(part) || characters.length < 2) return [part];
      return characters.slice(1).map((character, index) => characters[index] + character);
    })
    .filter((word) => word !== '');

const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, DOCS_BASE = '/' } = process.env;
const repository = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;

const SEARCH_IN_CHINESE = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详细列表',
    resetButtonTitle: '清除',
    backButtonTitle: '关闭',
    noResultsText: '没有找到',
    footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
  },
};

export default defineConfig({
  base: DOCS_BASE,
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: true,
  lastUpdated: false,
  title: 'Device Cloud for Node-RED',
  // The addresses are those of a machine on which somebody tries it.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  markdown: { anchor: { slugify }, headers: { slugify }, toc: { slugify } },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        locales: { zh: { translations: SEARCH_IN_CHINESE } },
        miniSearch: { options: { tokenize } },
      },
    },
    outline: [2, 3],
    ...(repository && { socialLinks: [{ icon: 'github', link: repository }] }),
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      description:
        'Node-RED nodes for wireless modules on a device cloud: live uploads, commands, pins. With a simulator of the service.',
      themeConfig: {
        nav: [
          { text: 'Quick start', link: '/use/quick-start', activeMatch: '^/use/quick-start' },
          { text: 'Recipes', link: '/use/recipes', activeMatch: '^/use/recipes' },
          { text: 'Errors', link: '/use/errors', activeMatch: '^/use/errors' },
          { text: 'Inside', link: '/inside/reliability', activeMatch: '^/inside/' },
          { text: version, link: '/inside/changelog', activeMatch: '^$' },
        ],
        sidebar: sidebars.root,
      },
    },
    zh: {
      label: '中文',
      lang: 'zh-CN',
      title: 'Node-RED 设备云节点',
      description:
        '连接设备云无线模块的 Node-RED 节点：实时接收上报、下发指令、控制引脚，内置服务模拟器。',
      themeConfig: {
        nav: [
          { text: '快速入门', link: '/zh/use/quick-start', activeMatch: '^/zh/use/quick-start' },
          { text: '实用流程', link: '/zh/use/recipes', activeMatch: '^/zh/use/recipes' },
          { text: '错误码', link: '/zh/use/errors', activeMatch: '^/zh/use/errors' },
          { text: version, link: '/inside/changelog', activeMatch: '^$' },
        ],
        sidebar: sidebars.zh,
        outline: { level: [2, 3], label: '本页内容' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '切换到浅色',
        darkModeSwitchTitle: '切换到深色',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        skipToContentLabel: '跳到正文',
      },
    },
  },
});
