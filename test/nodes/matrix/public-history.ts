import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { mock } from 'node:test';
import type { Simulator } from '../../../src/simulator';
import { RawBody } from '../../../src/simulator/http';
import { until } from '../../tooling/until';
import { keptOf } from '../../src/recovery/history';
import { asThePublicServer, reversed } from '../support/histories';
import { arrivedAt } from '../support/messages';
import { startCloud } from '../support/node-red';
import { KNOWN, listening, openWithRecovery, uploadKnown } from './listening';
import { MISSED, miss, saidOfHistory } from './missing';
import { ARRIVES, CHIPID, emitted, NOTHING, payloads, rowsOf, said, type Row } from './row';

const row = rowsOf('history');

const CUTS = 6;
const LIVE_EACH = 5;
const MISSED_EACH = 6;

const arrived = (count: number): Promise<void> =>
  until(() => arrivedAt('out').length >= count, `${count} messages`);

async function nextArrives(cloud: Simulator): Promise<void> {
  await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
  cloud.upload(CHIPID, 'good');
  await emitted('good');
}

/** Makes the random pauses short of the clients that are made until it is stopped. */
function hurryReconnects(): () => void {
  const { random } = Math;
  const { mock: quick } = mock.method(Math, 'random', () => random() / 20);
  return () => quick.restore();
}

/** What the log has of it. */
const alters = (upload: string, record: string): string =>
  '`the history alters uploads, so that what is recovered may lack something: an upload was ' +
  `"${upload}", and its record is "${record}".\``;

/** 66 uploads, some of them live, the others while the channel is down, of which only some is left. */
const cut = (what: string, textOf: (number: number) => string): Row =>
  row(
    `66 uploads ${what}, six cuts, in a history as of the public server`,
    alters(textOf(0).replace('\r\n', '␍␊'), keptOf(textOf(0), 'tagged')),
    `each comes once and in order, what was missed without what the history lacks and with \`altered\`, ${ARRIVES}`,
    async () => {
      const stop = hurryReconnects();
      const cloud = await listening().finally(stop);
      cloud.rewriteHistory(asThePublicServer);
      const due: unknown[] = [KNOWN];
      for (let round = 0; round < CUTS; round++) {
        const texts = Array.from({ length: LIVE_EACH + MISSED_EACH }, (_, index) =>
          textOf(round * (LIVE_EACH + MISSED_EACH) + index),
        );
        const [live, missed] = [texts.slice(0, LIVE_EACH), texts.slice(LIVE_EACH)];
        for (const text of live) cloud.upload(CHIPID, text);
        await arrived(due.push(...live));
        miss(cloud, missed);
        await arrived(due.push(...missed.map((text) => keptOf(text, 'tagged'))));
        await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
      }
      await nextArrives(cloud);
      const texts = payloads().map((payload) =>
        typeof payload === 'string' ? payload : JSON.stringify(payload),
      );
      assert.deepEqual(texts, [...due, 'good']);
      const marked = arrivedAt('out').filter(({ altered }) => altered === true);
      assert.equal(marked.length, CUTS * MISSED_EACH);
      assert.ok(marked.every(({ replayed }) => replayed === true));
      return saidOfHistory();
    },
  );

const uncut = row(
  '700 uploads with line ends, no cut, in a history as of the public server',
  alters('n=0␍␊', 'n=0'),
  `each comes once and as it was uploaded, ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    cloud.rewriteHistory(asThePublicServer);
    const readings = (): number =>
      cloud.requests.filter(({ path }) => path.includes('up_messages')).length;
    const before = readings();
    const texts = Array.from({ length: 700 }, (_, number) => `n=${number}\r\n`);
    for (const text of texts) cloud.upload(CHIPID, text);
    await arrived(1 + texts.length);
    await until(() => readings() > before, 'the history is read to advance the position');
    await nextArrives(cloud);
    assert.deepEqual(payloads(), [KNOWN, ...texts, 'good']);
    assert.ok(arrivedAt('out').every((msg) => !('replayed' in msg)));
    return said();
  },
);

/** Records of a year, one in two minutes: 33 MB. */
const YEAR = 300_000;

const year = row(
  'a history of 300,000 records, newest first; 5 uploads, a cut, 3 missed',
  NOTHING,
  `the three come once and in order, after one reading, ${ARRIVES}`,
  async () => {
    const cloud = await startCloud();
    // Served as text: building so many records for every answer would take seconds.
    const older = Array.from({ length: YEAR }, (_, index) => {
      const body = `t=${20 + (index % 100) / 10};h=${index % 60}`;
      const time = `2016-06-23 09:15:${59 - Math.floor(index / 10_000)}`;
      return `{"id":${YEAR - index},"body":"${body}","app":"farm","create_time":"${time}","dev":"${CHIPID}"}`;
    }).join(',');
    let readings = 0;
    cloud.rewriteHistory((records, chipid) => {
      readings++;
      const newer = (asThePublicServer(records, chipid) as { id: number }[]).map((record) =>
        JSON.stringify({ ...record, id: YEAR + record.id }),
      );
      return new RawBody(`[${[...newer, older].join(',')}]`, 'application/json');
    });
    await openWithRecovery(cloud, [CHIPID]);
    await uploadKnown(cloud, [CHIPID]);
    const live = ['live 1', 'live 2', 'live 3', 'live 4', 'live 5'];
    for (const text of live) cloud.upload(CHIPID, text);
    await emitted('live 5');
    // One that was asked for before may be served now, on a busy machine.
    for (let before = -1; before !== readings; await sleep(500)) before = readings;
    const missed = MISSED.slice(0, 3);
    readings = 0;
    miss(cloud, missed);
    await emitted('missed 3');
    assert.equal(readings, 1);
    await nextArrives(cloud);
    assert.deepEqual(payloads(), [KNOWN, ...live, ...missed, 'good']);
    return saidOfHistory();
  },
);

const unknown = row(
  'a history in a form that nobody knows, and then as text',
  '`missed uploads are not recovered for now, since the history does not contain what arrived live, in any form that ' +
    'is known: an upload was "live 3", and the newest record is "5 dessim".`, `the history contains what arrived live ' +
    'again: missed uploads are recovered.`',
  `live uploads go on; what was missed comes once the history is understood, once and in order; ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    cloud.rewriteHistory(reversed);
    for (const text of ['live 1', 'live 2', 'live 3']) cloud.upload(CHIPID, text);
    await emitted('live 3');
    miss(cloud, MISSED);
    await until(() => said().includes('are not recovered'), 'it is said');
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    cloud.upload(CHIPID, 'live 4');
    await emitted('live 4');
    cloud.rewriteHistory();
    await emitted('missed 5');
    await nextArrives(cloud);
    assert.deepEqual(payloads(), [
      KNOWN,
      'live 1',
      'live 2',
      'live 3',
      'live 4',
      ...MISSED,
      'good',
    ]);
    return saidOfHistory();
  },
);

export const PUBLIC_HISTORY: readonly Row[] = [
  cut('with line ends', (number) => `t=${number};h=40\r\n`),
  cut('of JSON with commas', (number) => `{"t":${number},"h":${40 + (number % 3)}}`),
  uncut,
  year,
  unknown,
];
