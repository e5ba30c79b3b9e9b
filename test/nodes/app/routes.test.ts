import assert from 'node:assert/strict';
import { node } from '../support/flow';
import { startWith, useNodeRed } from '../support/node-red';
import { ask } from '../support/routes';

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

/** Each route of an application, and what it is asked with. */
const ROUTES: [method: 'get' | 'post' | 'put', path: string, body?: object][] = [
  ...(['devices', 'fleet', 'devices/1', 'waiting', 'book'] as const).map(
    (path): ['get', string] => ['get', path],
  ),
  ['post', 'devices/1/refresh', {}],
  ['post', 'devices/1/push', { message: 'x' }],
  ['post', 'devices/1/gpio', { pin: 5, level: 1 }],
  ['post', 'devices/1/value', { key: 'x' }],
  ['post', 'waiting/cancel', { all: true }],
  ['post', 'record', { action: 'start' }],
  ['put', 'book', { rows: [] }],
];
/** Each route that changes something. */
const CHANGES: typeof ROUTES = [
  ...(['devices', 'test'] as const).map((path): ['post', string, object] => ['post', path, {}]),
  ...ROUTES.filter(([method]) => method !== 'get').map(
    ([method, path, body]): (typeof ROUTES)[number] => [method, `app/${path}`, body ?? {}],
  ),
];

describe('without a log-in, a request that changes something', () => {
  useNodeRed();

  for (const [what, headers, isOwn] of REQUESTS)
    it(`of ${what} is ${isOwn ? 'answered' : 'refused'}: ${JSON.stringify(headers)}`, async () => {
      await startWith(node('push'));
      const { status } = await ask('apps/app/waiting/cancel', { headers, body: { all: true } });
      assert.equal(status, isOwn ? 200 : 403);
    });

  it('of another site is refused by every route, and reaches no device', async () => {
    const cloud = await startWith(node('push'));
    for (const [method, path, body] of CHANGES) {
      const headers = { Origin: ORIGIN };
      const answer = await ask(`apps/${path}`, { method, headers, body });
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'FORBIDDEN'], path);
    }
    assert.equal(cloud.requests.length, 0);
  });

  it('as a form, which the page of another site could send, is refused by every route', async () => {
    const cloud = await startWith(node('push'));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [method, path] of CHANGES) {
      const { status, body } = await ask(`apps/${path}`, { method, headers, body: 'message=x' });
      assert.deepEqual([status, body.error.code], [400, 'INVALID_INPUT'], path);
    }
    assert.equal(cloud.requests.length, 0);
  });
});

describe('a route of an application', () => {
  useNodeRed();

  for (const id of ['gone', 'push', '__proto__'])
    it(`is 404 where no application has the id ${id}`, async () => {
      await startWith(node('push'));
      for (const [method, path, body] of ROUTES) {
        const headers = { 'If-Match': '"1"' };
        const answer = await ask(`apps/${id}/${path}`, { method, headers, body });
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_CONFIGURED'], path);
      }
    });
});
