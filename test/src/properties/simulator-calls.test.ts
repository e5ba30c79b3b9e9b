import assert from 'node:assert/strict';
import fc from 'fast-check';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { anyText, goodText, holds } from '../support/fuzz';
import { openUrl, send, serverCall } from '../simulator/client';
import { jsonText } from './json-text';

const CHIPID = '10000001';

/** The answers that the document allows for a valid signature, without failures of the service itself. */
const STATUSES = [200, 301, 400, 404, 504];

/** The endpoints of the open API, with a hole for each segment of the path. */
const ENDPOINTS: readonly (readonly [method: 'get' | 'post', path: string])[] = [
  ['get', 'apps/'],
  ['get', 'devices/list/'],
  ['post', 'dev/push/message/'],
  ['post', 'app/push/message/'],
  ['get', 'up_messages/dev/:/'],
  ['get', 'push_messages/dev/:/'],
  ['get', 'sync/:/:/'],
  ['get', 'rt_status/:/'],
  ['get', 'gpio_status/:/'],
  ['post', 'set_gpio_edge/:/:/:/'],
  ['get', 'manual_refresh/:/'],
  ['post', 'reboot/dev/:/'],
  ['get', ':/'],
];

const segment = fc.oneof(
  { weight: 5, arbitrary: fc.constant(CHIPID) },
  { weight: 3, arbitrary: fc.constantFrom('0', '1', '99', '20260101', '20261231', '20260230') },
  { weight: 1, arbitrary: fc.constantFrom('%', '%2f', '..', '9'.repeat(25)) },
  { weight: 1, arbitrary: goodText.map(encodeURIComponent) },
);
const isCommon = (name: string): boolean => /^(appid|timestamp|sign)$/i.test(name);
const others = fc.dictionary(
  goodText.filter((name) => !isCommon(name)),
  goodText,
  { maxKeys: 2 },
);
const known = fc.record(
  {
    devid: fc.oneof(fc.constant(CHIPID), goodText),
    message: fc.oneof(goodText, fc.constantFrom('0aFF', 'QQ==')),
    format: fc.oneof(fc.constantFrom('MSG', 'HEX', 'B64', 'AT', 'LUA', 'nothing'), goodText),
    key: fc.oneof(fc.constantFrom('uptime', 'config', '__proto__'), goodText),
  },
  { requiredKeys: [] },
);

const change = fc.record(
  {
    name: fc.oneof(goodText, fc.jsonValue()),
    disabled: fc.oneof(fc.boolean(), fc.jsonValue()),
    data: fc.oneof(goodText, fc.jsonValue()),
    format: fc.oneof(fc.constantFrom('MSG', 'HEX'), fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  change.map((each) => JSON.stringify(each)),
  jsonText.map(({ text }) => text),
  anyText,
);

describe('a simulator to which any signed request is sent', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    const quick = { interval: 0, answerDelay: 0, offlineAfter: 5, rebootTime: 0 };
    simulator = await startSimulator(quick);
  });
  afterEach(() => simulator.close());

  /** How often each status was answered, so that a test can check that it got beyond the first checks. */
  const seen = new Map<number, number>();
  const note = (status: number, what: string): void => {
    assert.ok(STATUSES.includes(status), `${status} to ${what}`);
    seen.set(status, (seen.get(status) ?? 0) + 1);
  };
  afterEach(() => {
    assert.ok((seen.get(200) ?? 0) > 10, 'next to nothing was carried out');
    seen.clear();
  });

  holds(
    'answers one of the open API as the document says',
    150,
    fc.asyncProperty(
      fc.constantFrom(...ENDPOINTS),
      fc.array(segment, { minLength: 3, maxLength: 3 }),
      known,
      others,
      async ([method, path], segments, some, more) => {
        let hole = 0;
        const whole = path.replaceAll(':', () => segments[hole++] ?? '');
        const given = { ...more, ...some };
        const isPost = method === 'post';
        const url = openUrl(simulator, method, whole, isPost ? { form: given } : { query: given });
        const init = isPost ? { method: 'POST', body: new URLSearchParams(given) } : {};
        const answer = await send(simulator, url, init);
        note(answer.status, url);
        assert.notEqual(answer.body, undefined);
      },
    ),
  );

  holds(
    'answers one of the server API as the document says',
    // Of every hundred some 20 are carried out, but now and then only 10.
    200,
    fc.asyncProperty(
      fc.constantFrom('GET', 'GET', 'PUT', 'PUT', 'POST', 'DELETE'),
      fc.constantFrom('/devices', '/up/messages', '/devices/:', '/devices/:', '/:'),
      segment,
      fc.oneof(fc.constant('2'), goodText.map(encodeURIComponent)),
      body,
      async (method, path, name, count, text) => {
        const whole = `${path.replace(':', name)}?page=1&count=${count}`;
        // What a URL makes of it is what is signed.
        const { pathname, search } = new URL(`http://x/api/server${whole}`);
        if (!pathname.startsWith('/api/server/')) return;
        const relative = pathname.slice('/api/server'.length) + search;
        const sent = method === 'GET' ? {} : { body: text };
        note((await serverCall(simulator, method, relative, sent)).status, `${method} ${relative}`);
      },
    ),
  );
});
