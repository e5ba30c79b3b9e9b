import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import { cloudApp, load, node } from '../support/flow';
import { startCloud, useNodeRed } from '../support/node-red';

const ORIGIN = 'http://evil.example';
const HOST = 'red.example:1880';

/** What a request says of where it comes from, and whether it is answered. */
const REQUESTS: [what: string, headers: Record<string, string>, isOwn: boolean][] = [
  ['a program', {}, true],
  ['the editor', { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://red.example' }, true],
  ['an address that was typed', { 'Sec-Fetch-Site': 'none' }, true],
  ['another site', { 'Sec-Fetch-Site': 'cross-site' }, false],
  ['another host of the same site', { 'Sec-Fetch-Site': 'same-site' }, false],
  // What the browser says counts, whatever a page has put into a header.
  [
    'another site',
    { 'Sec-Fetch-Site': 'cross-site', 'X-Forwarded-Host': 'evil.example', Origin: ORIGIN },
    false,
  ],
  ['the editor over plain http', { Host: HOST, Origin: `http://${HOST}` }, true],
  ['the editor on a default port', { Host: 'RED.example:80', Origin: 'http://red.example' }, true],
  ['another site over plain http', { Host: HOST, Origin: ORIGIN }, false],
  ['another port of the host', { Host: HOST, Origin: 'http://red.example:8080' }, false],
  ['a page without an origin', { Host: HOST, Origin: 'null' }, false],
  ['no origin at all', { Host: HOST, Origin: '' }, false],
  [
    'the editor behind a proxy',
    { Host: 'inside:1880', 'X-Forwarded-Host': HOST, Origin: `http://${HOST}` },
    true,
  ],
  [
    'the editor behind two proxies',
    { Host: 'inside', 'X-Forwarded-Host': `${HOST}, middle`, Origin: `http://${HOST}` },
    true,
  ],
  [
    'another site behind a proxy',
    { Host: 'inside', 'X-Forwarded-Host': HOST, Origin: ORIGIN },
    false,
  ],
];

/** Each route that changes something. */
const ROUTES: ['post' | 'put', path: string][] = [
  ['post', 'devices'],
  ['post', 'test'],
  ['post', 'app/devices/10000001/refresh'],
  ['post', 'app/devices/10000001/push'],
  ['post', 'app/devices/10000001/gpio'],
  ['post', 'app/devices/10000001/value'],
  ['put', 'app/book'],
  ['post', 'app/waiting/cancel'],
  ['post', 'app/record'],
];

describe('without a log-in, a request that changes something', () => {
  useNodeRed();

  for (const [what, headers, isOwn] of REQUESTS)
    it(`of ${what} is ${isOwn ? 'answered' : 'refused'}: ${JSON.stringify(headers)}`, async () => {
      await load([cloudApp(await startCloud()), node('push')]);
      const url = '/device-cloud/apps/app/waiting/cancel';
      const { status } = await helper.request().post(url).set(headers).send({ all: true });
      assert.equal(status, isOwn ? 200 : 403);
    });

  it('of another site is refused by every route, and reaches no device', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
    for (const [method, path] of ROUTES) {
      const request = helper.request()[method](`/device-cloud/apps/${path}`);
      const { status, body } = await request.set({ Origin: ORIGIN }).send({ message: 'x' });
      assert.equal(status, 403, path);
      assert.equal((body as { error: { code: string } }).error.code, 'FORBIDDEN');
    }
    assert.equal(cloud.requests.length, 0);
  });
});
