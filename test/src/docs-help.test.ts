import assert from 'node:assert/strict';
import { ERROR_CODES } from '../../src/errors';
import { examples } from '../e2e/examples/files';
import { NODES, read } from './support/catalogues';

const LANGUAGES = ['en-US', 'zh-CN'];
/** More than these bury the ones that matter. */
const MOST_ERRORS = 4;
/** Words of an English help. What is more is on a page of docs/use/. */
const MOST_WORDS = 500;
const MOST_OF_THE_APPLICATION = 900;

const help = (node: string, language: string): string =>
  read(`nodes/${node}/locales/${language}.md`);

/** The codes that a help explains, an item of a list each, or several in one. */
const explained = (text: string): string[][] =>
  text
    .split('\n')
    .map((line) => /^- ((?:`[A-Z_]+`(?:, |、)?)+)(?::|：)/.exec(line)?.[1])
    .filter((codes) => codes !== undefined)
    .map((codes) => codes.match(/[A-Z_]{2,}/g) ?? [])
    .filter((codes) => codes.every((code) => (ERROR_CODES as readonly string[]).includes(code)));

/** Which node types each example has, by folder and name in the import menu. */
const typesOf = new Map(
  examples.map(({ folder, name, nodes }) => [
    `${folder.replace(/^\d+ /, '')} / ${name}`,
    new Set(nodes.map(({ type }) => type)),
  ]),
);

describe('the help', () => {
  it('is short', () => {
    for (const node of NODES) {
      const words = help(node, 'en-US').trim().split(/\s+/).length;
      const most = node === 'app' ? MOST_OF_THE_APPLICATION : MOST_WORDS;
      assert.ok(words <= most, `${node}: ${words} words`);
    }
  });

  for (const language of LANGUAGES) {
    it(`in ${language} explains the few errors that matter for a node, and links to the others`, () => {
      for (const node of NODES) {
        const text = help(node, language);
        const count = explained(text).length;
        assert.ok(count > 0 && count <= MOST_ERRORS, `${node}: ${count} errors`);
        assert.match(text, /\]\(\.\.\/\.\.\/\.\.\/docs\/use\/errors/, node);
      }
    });

    it(`in ${language} leads to pages of docs/use/, and nowhere before a release has a site for them`, () => {
      for (const node of NODES) {
        const [all, own] = [
          /\]\(/g,
          /\]\(\.\.\/\.\.\/\.\.\/docs\/use\/[a-z-]+(\.zh-CN)?\.md[#)]/g,
        ].map((link) => help(node, language).match(link)?.length ?? 0);
        assert.ok(own, node);
        assert.equal(all, own, node);
        const shown = read(`dist/nodes/${node}/locales/${language}/${node}.html`);
        assert.doesNotMatch(shown, /\]\(/, node);
      }
    });

    it(`in ${language} names examples of the import menu that use the node`, () => {
      for (const node of NODES) {
        const named = [
          ...help(node, language).matchAll(/\*\*([A-Z][a-z]+(?: [a-z]+)* \/ [^*\n]+)\*\*/g),
        ];
        assert.ok(named.length > 0, node);
        for (const [, name = ''] of named) {
          assert.ok(typesOf.get(name)?.has(`device-cloud-${node}`), `${node}: ${name}`);
        }
      }
    });
  }
});
