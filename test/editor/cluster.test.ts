import assert from 'node:assert/strict';
import type { ClusterTestResult } from '../../nodes/cluster/cluster.config';
import { closeDialog, exported, fill, openDialog } from '../../tooling/editor/dialog';
import { apps, sampleNodes } from '../../tooling/editor/samples';
import { world } from './world';

const URL_FIELD = '#node-config-input-url';
const SENTINELS = '#node-config-input-sentinels';
const KIND = '#device-cloud-cluster-kind';

describe('the dialog of a cluster', () => {
  const here = world(() => [...apps, ...sampleNodes]);

  const isMarked = (selector: string): Promise<boolean> =>
    here.editor.run(`$('${selector}').hasClass('input-error')`);

  /** Presses the button. @returns the lines of the result, with the icon of each */
  async function test(): Promise<[icon: string, text: string][]> {
    const { page } = here.editor;
    await page.click('.device-cloud-test');
    await page.waitForSelector('.device-cloud-test:enabled');
    return here.editor.run(`$('.device-cloud-result li').toArray().map((line) =>
      [$(line).find('i')[0].className.replace('fa fa-', ''), $(line).text()])`);
  }

  it('marks an address that would show a password to everyone, and an invalid one', async () => {
    await openDialog(here.editor, 'cluster');
    for (const [url, wrong] of [
      ['redis://user:secret@redis.invalid', true],
      ['http://redis.invalid', true],
      ['redis://a.invalid, rediss://b.invalid', true],
      ['', true],
      ['redis://a.invalid:7000,redis://b.invalid:7000', false],
      ['redis://${REDIS_HOST}:${REDIS_PORT}/1', false],
      ['${REDIS_URL}', false],
    ] as const) {
      await fill(here.editor, URL_FIELD, url);
      await here.editor.page.keyboard.press('Tab');
      assert.equal(await isMarked(URL_FIELD), wrong, url);
    }
    await closeDialog(here.editor, 'cancel');
  });

  it('asks for Sentinels and their primary instead of the address, and saves only one of the two', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'cluster');
    await page.selectOption(KIND, 'sentinels');
    assert.equal(await page.isVisible(URL_FIELD), false);
    assert.equal(await isMarked(SENTINELS), true);
    assert.equal(await isMarked('#node-config-input-master'), true);
    await page.fill(SENTINELS, 'a.invalid, b.invalid:26379');
    await page.fill('#node-config-input-master', 'mymaster');
    await closeDialog(here.editor);
    const { url, sentinels, master } = await exported(here.editor, 'cluster');
    assert.deepEqual([url, sentinels, master], ['', 'a.invalid, b.invalid:26379', 'mymaster']);
    await openDialog(here.editor, 'cluster');
    await page.selectOption(KIND, 'url');
    await page.fill(URL_FIELD, 'redis://redis.invalid:6380/1');
    await closeDialog(here.editor);
    assert.equal((await exported(here.editor, 'cluster'))['sentinels'], '');
  });

  it('says that the package is missing, and asks for a stored password again for another address', async () => {
    await openDialog(here.editor, 'cluster');
    const [first] = await test();
    assert.match(first?.[1] ?? '', /^Server: the package ioredis is not installed.*npm install/s);
    await here.editor.page.fill(URL_FIELD, 'redis://elsewhere.invalid');
    const [again] = await test();
    assert.match(again?.[1] ?? '', /^Server: type it again: Password\. What is stored/);
    await closeDialog(here.editor, 'cancel');
  });

  it('names server and processes, and warns of settings that would lose positions', async () => {
    const { page } = here.editor;
    const result: ClusterTestResult = {
      ...{ ok: true, product: 'Valkey', version: '8.1.1', persistence: 'snapshots' },
      ...{ eviction: 'allkeys-lru', clockSkew: -7.4 },
      apps: [{ name: '<b>Greenhouse</b>', members: ['one-1', 'two-2'] }],
    };
    const route = '**/device-cloud/clusters/test';
    await page.route(route, (request) => request.fulfill({ json: result }));
    await openDialog(here.editor, 'cluster');
    const lines = await test();
    await here.editor.picture('cluster-test');
    assert.deepEqual(
      lines.map(([icon]) => icon),
      ['check', 'warning', 'warning', 'info-circle', 'warning'],
    );
    const texts = lines.map(([, text]) => text);
    assert.equal(texts[0], 'Server: Valkey 8.1.1');
    assert.match(texts[1] ?? '', /snapshots only.*Turn on appendonly/);
    assert.match(texts[2] ?? '', /maxmemory-policy is allkeys-lru and must be noeviction/);
    assert.equal(texts[3], '<b>Greenhouse</b>: 2 processes (one-1, two-2)');
    assert.equal(texts[4], "This clock is 7 s off the server's");
    await page.unroute(route);
    await closeDialog(here.editor, 'cancel');
  });

  it('names the rights that the user of the server lacks', async () => {
    const { page } = here.editor;
    const result: ClusterTestResult = { ok: true, forbidden: ['+info', '&{device-cloud:*'] };
    const route = '**/device-cloud/clusters/test';
    await page.route(route, (request) => request.fulfill({ json: result }));
    await openDialog(here.editor, 'cluster');
    const [server, rights] = await test();
    assert.match(server?.[1] ?? '', /^Server: reached/);
    assert.equal(rights?.[0], 'times');
    assert.match(rights?.[1] ?? '', /Add to its ACL:.*\+info &\{device-cloud:\*$/);
    await page.unroute(route);
    await closeDialog(here.editor, 'cancel');
  });

  it('marks an address beside Sentinels in a flow written by hand', async () => {
    const judge = (node: object): Promise<unknown> =>
      here.editor.run(`RED.nodes.getType('device-cloud-cluster').defaults.url.validate
        .call({ id: 'by-hand', type: 'device-cloud-cluster', ...${JSON.stringify(node)} },
          '${'url' in node ? String(node.url) : ''}', {})`);
    const sentinels = 'a.invalid';
    assert.equal(await judge({ sentinels, url: '' }), true);
    assert.equal(await judge({ sentinels: '', url: 'redis://b.invalid' }), true);
    assert.match(String(await judge({ sentinels, url: 'redis://b.invalid' })), /must be empty/);
  });

  it('belongs to an application whose listeners must recover and have no share', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'listen');
    const look = (): Promise<boolean[]> =>
      Promise.all(['#node-input-recover', '#node-input-shard'].map(isMarked));
    await page.selectOption('#node-input-recover', 'off');
    assert.deepEqual(await look(), [false, false]);
    await page.selectOption('#node-input-app', 'my-cloud');
    assert.deepEqual(await look(), [true, true]);
    await page.selectOption('#node-input-recover', 'reconnect');
    await page.fill('#node-input-shard', '');
    await page.keyboard.press('Tab');
    assert.deepEqual(await look(), [false, false]);
    await page.selectOption('#node-input-deliver', 'queue');
    assert.equal(await isMarked('#node-input-deliver'), false);
    await page.selectOption('#node-input-app', 'app');
    assert.equal(await isMarked('#node-input-deliver'), true);
    await closeDialog(here.editor, 'cancel');
  });

  it('is not needed for a share, which must be an ordinal and a count', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'listen');
    for (const [shard, wrong] of [
      ['0/3', false],
      ['3/3', true],
      ['three', true],
      ['${ORDINAL}/${COUNT}', false],
      ['${SHARD}', false],
    ] as const) {
      await page.fill('#node-input-shard', shard);
      await page.keyboard.press('Tab');
      assert.equal(await isMarked('#node-input-shard'), wrong, shard);
    }
    await closeDialog(here.editor, 'cancel');
  });
});
