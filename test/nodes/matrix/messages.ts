import assert from 'node:assert/strict';
import { cloudApp, load, node } from '../support/flow';
import { call } from '../support/messages';
import { startCloud } from '../support/node-red';
import { circular } from '../support/values';
import { CHIPID, codeOf, NOTHING, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('messages');

/** A message that no call may come of. */
const refused = (fault: string, id: 'gpio' | 'push', bad: object): Row =>
  row(fault, '`INVALID_INPUT`', `nothing sent, ${WORKS}`, async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node(id)]);
    const good = { chipid: CHIPID, pin: 1, payload: 1 };
    const failed = await codeOf(id, { ...good, ...bad });
    await codeOf(id, { ...good, ...bad });
    assert.equal(cloud.requests.length, 0);
    await call(id, good);
    return failed;
  });

/** A payload that is unusual and good. */
const sent = (fault: string, payload: unknown, text: string): Row =>
  row(fault, NOTHING, `sent whole, ${WORKS}`, async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
    await call('push', { chipid: CHIPID, payload });
    assert.ok(cloud.device(CHIPID).received.at(-1)?.text === text, 'another text arrived');
    await call('push', { chipid: CHIPID, payload: 'good' });
    return said();
  });

const PINS: [fault: string, pin: unknown][] = [
  ['pin −1', -1],
  ['pin NaN', NaN],
  ['pin ∞', Infinity],
  ['pin 1.5', 1.5],
  ['pin `"1e9"`', '1e9'],
  ['pin `""`', ''],
  ['pin true', true],
];

const PAYLOADS: [fault: string, payload: unknown][] = [
  ['payload undefined', undefined],
  ['payload null', null],
  ['payload circular', circular()],
  ['payload BigInt', 1n],
  ['payload function', () => 1],
  ['payload of lone surrogates', 'a\ud800b\udc00'],
];

const CHIPIDS: [fault: string, chipid: string][] = [
  ['chipid `../x`', '../x'],
  ['chipid `%2f`', '%2f'],
  ['chipid `a b`', 'a b'],
  ['chipid of 40 digits', '1'.repeat(40)],
  ['chipid `__proto__`', '__proto__'],
  ['chipid with CRLF', '1\r\nX: y'],
];

const MEGABYTES = 'x'.repeat(10_000_000);

const polluting = row(
  'a message with `__proto__` and `constructor` keys',
  NOTHING,
  `no prototype changed, ${WORKS}`,
  async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
    const keys = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const odd = JSON.parse(keys) as object;
    const msg = Object.assign(JSON.parse(keys) as object, { chipid: CHIPID, payload: odd });
    await call('push', msg);
    assert.ok(!('polluted' in {}));
    await call('push', { chipid: CHIPID, payload: 'good' });
    return said();
  },
);

export const MESSAGES: readonly Row[] = [
  ...PINS.map(([fault, pin]) => refused(fault, 'gpio', { pin })),
  ...PAYLOADS.map(([fault, payload]) => refused(fault, 'push', { payload })),
  sent('payload Date', new Date(0), '"1970-01-01T00:00:00.000Z"'),
  sent('payload of 10 MB text', MEGABYTES, MEGABYTES),
  sent('payload with NUL', 'a\u0000b', 'a\u0000b'),
  sent('payload of emoji', '😀👩‍👩‍👧', '😀👩‍👩‍👧'),
  ...CHIPIDS.map(([fault, chipid]) => refused(fault, 'push', { chipid })),
  polluting,
];
