import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryRewrite } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { arrivedAt } from '../support/messages';
import { hurry } from './hurry';
import { MISSED, miss, saidOfHistory } from './missing';
import { PUBLIC_HISTORY } from './public-history';
import { KNOWN, listening, recovered } from './listening';
import { ARRIVES, CHIPID, emitted, NOTHING, payloads, rowsOf, said, type Row } from './row';

const row = rowsOf('history');
const ONCE = `what was missed comes once, in order, ${ARRIVES}`;

/** A history that is not as it should be, and loses nothing. */
const rewritten = (fault: string, line: string, rewrite: HistoryRewrite): Row =>
  row(fault, line, ONCE, async () => {
    const cloud = await listening();
    cloud.rewriteHistory(rewrite);
    miss(cloud, MISSED);
    await recovered(cloud, MISSED);
    return saidOfHistory();
  });

const failedWith = (what: string, advice: string): string =>
  `\`uploads could not be recovered: ${what}. Reading the uploads of device ${CHIPID} failed. ${advice}\``;
const unusable = (what: string): string =>
  `\`a record of the history could not be used, since ${what}; the others were.\``;
const NO_BODY = unusable('its body is not text');
const NO_ID = unusable('its id is not a number of at most 20 digits');

/** A malformed record, older than all others. */
const bad = (fault: string, line: string, record: object): Row =>
  rewritten(fault, line, (records) => [{ id: 0, body: 'x', ...record }, ...records]);

const restored = row(
  'ids that begin at 1 again',
  '`the ids of the history have started over, as after a restore: records with a later time than the last known ones are recovered.`',
  ONCE,
  async () => {
    const cloud = await listening();
    for (const text of ['live 2', 'live 3', 'live 4']) cloud.upload(CHIPID, text);
    await emitted('live 4');
    miss(cloud, ['missed 5']);
    await emitted('missed 5');
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    const { length } = cloud.device(CHIPID).uploads;
    cloud.rewriteHistory((records) =>
      records.slice(length).map((record, index) => ({ ...record, id: index + 1 })),
    );
    // Nobody restores a service within a second.
    await sleep(1100);
    miss(cloud, ['new 1', 'new 2']);
    await emitted('new 2');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    const all = [KNOWN, 'live 2', 'live 3', 'live 4', 'missed 5', 'new 1', 'new 2', 'good'];
    assert.deepEqual(payloads(), all);
    return saidOfHistory();
  },
);

const newest = row(
  'the newest 2 of 5 shown',
  '`uploads may be lost: the history no longer has anything between the ids 2 and 6, and fewer uploads than that arrived live.`',
  `those two come, ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    miss(cloud, ['missed 0']);
    await emitted('missed 0');
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    cloud.rewriteHistory((records) => records.slice(-2));
    miss(cloud, MISSED);
    await emitted('missed 5');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads(), [KNOWN, 'missed 0', 'missed 4', 'missed 5', 'good']);
    return saidOfHistory();
  },
);

const lagging = row(
  'the newest records are missing for a while',
  '`the newest id of the history, 4, is below 6, which was read before: the history lags behind, or was restored from an older copy.`',
  `nothing comes twice, ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    miss(cloud, MISSED);
    await emitted('missed 5');
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    cloud.rewriteHistory((records) => records.slice(0, -2));
    cloud.disconnect(CHIPID);
    await until(() => said().includes('is below'), 'the history was behind');
    let readings = 0;
    cloud.rewriteHistory((records) => {
      readings++;
      return records;
    });
    cloud.disconnect(CHIPID);
    await until(() => readings > 0 && cloud.channels(CHIPID) === 1, 'it has caught up');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads(), [KNOWN, ...MISSED, 'good']);
    return saidOfHistory();
  },
);

const base64 = row(
  'Base64',
  '`the history writes uploads in Base64: an upload was "known", and its record is "a25vd24=".`',
  ONCE,
  async () => {
    const cloud = await listening({}, { historyEncoding: 'base64' });
    miss(cloud, MISSED);
    await recovered(cloud, MISSED);
    return saidOfHistory();
  },
);

const BYTES = Buffer.from([0xff, 0x00, 0xc3, 0x28]);

const mixed = row(
  'texts as text, other bytes in Base64',
  NOTHING,
  `bytes that arrived live do not come again, ${ONCE}`,
  async () => {
    const cloud = await listening();
    cloud.upload(CHIPID, BYTES);
    await until(() => payloads().length === 2, 'the bytes have arrived');
    cloud.rewriteHistory((records) =>
      records.map((record) =>
        'body' in record && record.body === BYTES.toString()
          ? { ...record, body: BYTES.toString('base64') }
          : record,
      ),
    );
    miss(cloud, MISSED);
    await emitted('missed 5');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads(), [KNOWN, BYTES, ...MISSED, 'good']);
    return saidOfHistory();
  },
);

/** More than a record may have. */
const LIMIT = 32 * 1024 * 1024;

const large = row(
  'a record of over 32 MiB, and then none',
  failedWith(
    'INVALID_RESPONSE: The answer is a list with a record of more than 32 MiB',
    'No upload that arrives live has such a record: check what the service keeps of this device.',
  ),
  ONCE,
  async () => {
    const cloud = await listening({ timeout: 60 });
    // A reading that is cancelled says nothing.
    cloud.rewriteHistory((records) =>
      said().includes('32 MiB') ? records : [{ id: 0, body: 'x'.repeat(LIMIT) }, ...records],
    );
    miss(cloud, MISSED);
    await recovered(cloud, MISSED);
    return saidOfHistory();
  },
);

const unanswered = row(
  'a history that never answers',
  `${failedWith('TIMEOUT: no answer in 15 s', 'Try again later, or set a longer time-out.')}, \`the history could not be read in time: missed uploads will come late.\``,
  `after a minute live uploads go on; what was missed comes late, once; ${ARRIVES}`,
  async () => {
    const cloud = await listening({ ping: 0 });
    const time = hurry();
    try {
      const heal = cloud.fail('hang', { path: 'up_messages' });
      miss(cloud, MISSED);
      const opened = (): number => cloud.requests.filter(({ status }) => status === 101).length;
      await until(() => opened() === 2, 'the channel is open again');
      cloud.upload(CHIPID, 'live');
      await emitted('live');
      assert.deepEqual(payloads(), [KNOWN, 'live']);
      assert.ok(time.waits.includes(60_000), 'a minute');
      heal();
    } finally {
      time.stop();
    }
    await emitted('missed 5');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads(), [KNOWN, 'live', ...MISSED, 'good']);
    assert.equal(arrivedAt('out').filter(({ replayed }) => replayed).length, MISSED.length);
    return saidOfHistory();
  },
);

export const HISTORY: readonly Row[] = [
  bad('a record with `body: null`', NO_BODY, { body: null }),
  bad('a record with a number as its body', NO_BODY, { body: 5 }),
  bad('a record with `id: null`', NO_ID, { id: null }),
  bad('a record with an id of 40 digits', NO_ID, { id: '9'.repeat(40) }),
  rewritten('the same id twice', NOTHING, (records) => records.flatMap((each) => [each, each])),
  restored,
  newest,
  lagging,
  rewritten('records out of order', NOTHING, (records) => records.toReversed()),
  base64,
  mixed,
  large,
  unanswered,
  ...PUBLIC_HISTORY,
];
