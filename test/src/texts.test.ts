import assert from 'node:assert/strict';
import { ERROR_CODES } from '../../src/errors';
import { NODES, PLUGINS, catalogue, ownTexts, read } from './support/catalogues';
import { isUsed, usedKeys } from './support/used-keys';
import { englishWords, isChinese } from '../support/wording';

const SHARED = ['nodes/common'];

describe('the texts of the editor', () => {
  for (const node of [...NODES, ...PLUGINS]) {
    it(`of ${node} have the same keys in both languages`, () => {
      const [en, zh] = [catalogue(node, 'en-US'), catalogue(node, 'zh-CN')];
      assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
    });

    it(`of ${node} are Chinese in Chinese, with the same values to fill in`, () => {
      const [en, zh] = [catalogue(node, 'en-US'), catalogue(node, 'zh-CN')];
      const fills = (text = ''): string[] => (text.match(/__\w+__/g) ?? []).sort();
      for (const [key, text] of Object.entries(zh)) {
        assert.ok(isChinese(text), `${key}: ${text}`);
        assert.deepEqual(englishWords(text), [], `${key}: ${text}`);
        assert.deepEqual(fills(text), fills(en[key]), key);
      }
    });

    it(`of ${node} all exist`, () => {
      const known = Object.keys(catalogue(node, 'en-US'));
      const { named, patterns } = usedKeys([`nodes/${node}`, ...SHARED]);
      assert.ok(named.size > 20, 'hardly a key was found in the sources');
      const missing = [...named].filter((key) => !known.includes(key));
      const empty = patterns.filter((pattern) => !known.some((key) => pattern.test(key)));
      assert.deepEqual([...missing, ...empty.map(String)], []);
    });

    it(`of ${node} are all used`, () => {
      const used = usedKeys([`nodes/${node}`]);
      const keys = Object.keys(ownTexts(node, 'en-US'));
      assert.deepEqual(
        // `summary` is for the tables of scripts/tables.mjs.
        keys.filter((key) => key !== 'summary' && !isUsed(key, used)),
        [],
      );
    });

    it(`of ${node} have a status for each error code, short enough to be shown below a node`, () => {
      for (const language of ['en-US', 'zh-CN']) {
        const texts = catalogue(node, language);
        for (const code of ERROR_CODES)
          assert.ok(texts[`status.${code.toLowerCase().replaceAll('_', '-')}`], code);
        for (const [key, text] of Object.entries(texts))
          if (key.startsWith('status.'))
            assert.ok(text.replace(/__\w+__/g, '1000').length < 20, `${key}: ${text}`);
      }
    });

    if (PLUGINS.includes(node)) continue;

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

  it('say that connected is not about the device', () => {
    assert.match(
      read('nodes/listen/locales/en-US.md'),
      /channel stays connected while its device is off or asleep/,
    );
  });

  it('warn that frequent calls may reset a device, wherever a node calls one or is likely to poll', () => {
    for (const node of ['push', 'gpio', 'reboot', 'refresh', 'rt-status', 'devices']) {
      assert.match(read(`nodes/${node}/locales/en-US.md`), /frequent calls .*may reset a device/);
      assert.match(read(`nodes/${node}/locales/zh-CN.md`), /频繁调用.*可能导致设备复位/);
    }
  });

  it('say nothing of a device where any call may have had no answer in time', () => {
    const [en, zh] = ['en-US', 'zh-CN'].map(
      (lang) => catalogue('app', lang)['common.advice.TIMEOUT'],
    );
    assert.doesNotMatch(en ?? 'device', /device|offline/i);
    assert.doesNotMatch(zh ?? '设备', /设备|离线|在线/);
  });

  it('that nodes share are all used by one of them', () => {
    const used = usedKeys([...SHARED, ...NODES.map((node) => `nodes/${node}`)]);
    const keys = Object.keys(ownTexts('common', 'en-US'));
    assert.deepEqual(
      keys.filter((key) => !isUsed(key, used)),
      [],
    );
  });
});
