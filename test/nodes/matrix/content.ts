import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { ErrorCode } from '../../../src/errors';
import { floodService } from '../../tooling/servers/flood-service';
import { httpService, inSequence, json, raw } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { arrivedAt, call, fail, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { KNOWN, listening } from './listening';
import { ARRIVES, CHIPID, emitted, NOTHING, payloads, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('content');
const MEBIBYTE = 1024 * 1024;
const DEEP = `${'['.repeat(2500)}${']'.repeat(2500)}`;

const filled = (unit: string, bytes: number, begin = '', end = ''): Buffer =>
  Buffer.concat([Buffer.from(begin), Buffer.alloc(bytes, unit), Buffer.from(end)]);

/** An answer that is refused for what it contains. @param why what is said of it */
const refused = (fault: string, why: RegExp, body: () => string | Buffer): Row =>
  row(fault, '`INVALID_RESPONSE`', `not left on the message, ${WORKS}`, async () => {
    const code: ErrorCode = 'INVALID_RESPONSE';
    const service = await httpService(inSequence(raw(body()), json({ msg: 'OK' })));
    await load([cloudApp({ ...service, appid: '1' }), node('push', { timeout: '60' })]);
    const push = { chipid: CHIPID, payload: 'x' };
    const caught = await fail('push', { ...push }, code);
    assert.match(caught.error.message, why);
    assert.equal(caught.payload, 'x');
    await call('push', { ...push });
    return `\`${code}\``;
  });

const deepUpload = row(
  'an upload of 2,500 nested brackets, wired to two nodes',
  NOTHING,
  `stays text, both nodes get it, ${ARRIVES}`,
  async () => {
    const cloud = await startCloud();
    const wires = [['out', 'completed']];
    await load([cloudApp(cloud), node('listen', { chipids: [CHIPID], recover: 'off', wires })]);
    await shows('listen', 'status.connected');
    cloud.upload(CHIPID, DEEP);
    cloud.upload(CHIPID, 'good');
    await until(() => arrivedAt('completed').length === 2, 'the second node has both');
    assert.deepEqual(payloads(), [DEEP, 'good']);
    const second = arrivedAt('completed').map(({ payload }) => payload);
    assert.deepEqual(second, [DEEP, 'good']);
    return said();
  },
);

/** More than 8 MiB together, and less than a history may have. */
const BODIES = 15;
const BODY = 780_000;

const held = row(
  'uploads of 780 KB while a history is read, more than may be held back',
  '`the channel is down (1001).`',
  `8 MiB are held back, the rest comes from the history: once, in order; ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    const bodies = Array.from({ length: BODIES }, (_, n) => `${n} `.padEnd(BODY, 'x'));
    let answers = 0;
    cloud.rewriteHistory((records) => {
      // Announced before the answer, which does not have them.
      if (answers++ === 0) for (const body of bodies) cloud.upload(CHIPID, body);
      return records;
    });
    cloud.disconnect(CHIPID);
    await emitted(bodies.at(-1));
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(
      payloads().map((payload) => String(payload).slice(0, 5)),
      [KNOWN, ...bodies, 'good'].map((body) => body.slice(0, 5)),
    );
    const large = arrivedAt('out').filter(({ payload }) => String(payload).length === BODY);
    const live = large.filter(({ replayed }) => !replayed).length;
    assert.ok(live * BODY <= 8 * MEBIBYTE, `${live} of ${BODIES} were held back`);
    return said();
  },
);

const unreadable = row(
  'unreadable frames faster than the history answers',
  '`A frame is not JSON.`',
  `an upload among them arrives, they come from the history: once; ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    const expected = [KNOWN];
    const upload = (text: string): void => {
      expected.push(text);
      cloud.upload(CHIPID, text);
    };
    const noise = setInterval(() => {
      cloud.fail('bad-json', { times: 5 });
      for (let count = 0; count < 5; count++) upload(`spoilt ${expected.length}`);
    }, 2);
    try {
      for (const text of ['good 1', 'good 2']) {
        await until(() => expected.length > 300, 'some are unreadable');
        upload(text);
        await emitted(text);
      }
    } finally {
      clearInterval(noise);
    }
    await until(() => payloads().length === expected.length, 'all have come');
    upload('good');
    await emitted('good');
    assert.deepEqual(payloads().map(String).sort(), expected.sort());
    return said();
  },
);

/** "abc" in one text frame. */
const TINY = Buffer.from([0x81, 3, 0x61, 0x62, 0x63]);

const flood = row(
  'frames of 3 bytes at full speed',
  '`A frame is not a JSON object.`',
  `the admin API answers, ${ARRIVES} on another service`,
  async () => {
    const cloud = await startCloud();
    const { baseUrl } = await floodService(TINY);
    await load([
      cloudApp({ baseUrl, appid: '1' }),
      cloudApp(cloud, { id: 'app2' }),
      node('listen', { chipids: [CHIPID], recover: 'reconnect' }),
      node('listen', { id: 'other', app: 'app2', chipids: [CHIPID] }),
    ]);
    await shows('other', 'status.connected');
    const line = '`A frame is not a JSON object.`';
    await until(() => said().includes(line), 'the flood is read');
    for (let count = 1; count <= 5; count++) {
      const { status } = await helper.request().post('/device-cloud/apps/test').send({});
      assert.equal(status, 200);
      cloud.upload(CHIPID, `good ${count}`);
      await emitted(`good ${count}`);
    }
    // It has no history either, which is said, too, sooner or later.
    return said().includes(line) ? line : said();
  },
);

export const CONTENT: readonly Row[] = [
  deepUpload,
  refused('an answer of 2,500 nested brackets', /deeper than 100/, () => DEEP),
  refused('4 MiB of `{},`', /more than 1,000,000/, () => filled('{},', 4 * MEBIBYTE, '[', '1]')),
  held,
  flood,
  unreadable,
];
