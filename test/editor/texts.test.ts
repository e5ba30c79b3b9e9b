import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../src/errors';
import { repository } from '../e2e/harness/packed';

const NODES = readdirSync(join(repository, 'nodes')).filter((name) => name !== 'common');
const CHINESE = /\p{Script=Han}/u;
/** Names that are the same in every language. */
const SAME = /^(gpio|TLS|Key|Base64|Buffer|__what__.*|-?)$/i;

type Texts = Record<string, string>;

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

function flat(value: unknown, path = ''): Texts {
  if (typeof value === 'string') return { [path]: value };
  const entries = Object.entries(value as Record<string, unknown>);
  return Object.assign(
    {},
    ...entries.map(([key, child]) => flat(child, path === '' ? key : `${path}.${key}`)),
  ) as Texts;
}

const catalogue = (node: string, language: string): Texts =>
  flat(JSON.parse(read(`dist/nodes/${node}/locales/${language}/${node}.json`)));

const sources = (node: string): string[] =>
  [`nodes/${node}`, 'nodes/common/editor'].flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((file) => /\.(editor\.ts|html)$/.test(file) || folder.endsWith('editor'))
      .map((file) => read(`${folder}/${file}`)),
  );

describe('the texts of the editor', () => {
  for (const node of NODES) {
    it(`of ${node} have the same keys in both languages`, () => {
      const [en, zh] = [catalogue(node, 'en-US'), catalogue(node, 'zh-CN')];
      assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
    });

    it(`of ${node} are Chinese in Chinese, with the same values to fill in`, () => {
      const [en, zh] = [catalogue(node, 'en-US'), catalogue(node, 'zh-CN')];
      const fills = (text = ''): string[] => (text.match(/__\w+__/g) ?? []).sort();
      for (const [key, text] of Object.entries(zh)) {
        assert.ok(CHINESE.test(text) || SAME.test(text), `${key}: ${text}`);
        assert.deepEqual(fills(text), fills(en[key]), key);
      }
    });

    it(`of ${node} are all there`, () => {
      const known = catalogue(node, 'en-US');
      const used = sources(node).flatMap((text) => [
        ...[...text.matchAll(/data-i18n="(?:\[\w+\])?([^"]+)"/g)].map(([, key]) => key!),
        ...[...text.matchAll(/\bt\('([^']+)'/g)].map(([, key]) => key!),
      ]);
      assert.deepEqual(
        used.filter((key) => !(key in known)),
        [],
      );
    });

    it(`of ${node} have a status for each error code, short enough to stand below a node`, () => {
      for (const language of ['en-US', 'zh-CN']) {
        const texts = catalogue(node, language);
        for (const code of ERROR_CODES) {
          const text = texts[`status.${code.toLowerCase().replaceAll('_', '-')}`];
          assert.ok(text && text.length < 20, `${code}: ${text ?? 'missing'}`);
        }
      }
    });

    it(`of ${node} have a help with the same sections in both languages`, () => {
      const shape = (language: string): string[] =>
        read(`nodes/${node}/locales/${language}.md`)
          .split('\n')
          .map((line) => /^(#+|-|: \S+ \([^)]+\) :)/.exec(line)?.[0])
          .filter((mark) => mark !== undefined);
      assert.deepEqual(shape('zh-CN'), shape('en-US'));
    });

    it(`of ${node} have property lists that Node-RED can read`, () => {
      for (const language of ['en-US', 'zh-CN']) {
        const lines = read(`nodes/${node}/locales/${language}.md`).split('\n');
        for (const line of lines.filter((text) => text.startsWith(':'))) {
          assert.match(line, /^: [^:]+ \([^:]+\) : [^:]+$/);
        }
      }
    });
  }
});
