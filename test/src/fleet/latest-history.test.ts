import assert from 'node:assert/strict';
import { NewestRecord } from '../../../src/fleet/latest-history';
import { HistoryFacts, type HistoryForm, type HistoryFormSetting } from '../../../src/history/form';

const NOW = Date.UTC(2026, 0, 2);

const record = (id: unknown, time: unknown, body: unknown, dev: unknown = '7') => ({
  ...{ id, create_time: time, body, dev, app: 'x' },
});

/** The newest upload of a history, as body, time and id. */
function newest(
  records: readonly unknown[],
  encoding: HistoryFormSetting = 'text',
  known: { form?: HistoryForm; zone?: number } = {},
) {
  const facts = new HistoryFacts();
  facts.restore(known.form, known.zone);
  const history = new NewestRecord('7');
  for (const each of records) history.take(each);
  const upload = history.upload('1', facts, { encoding, zone: undefined }, NOW);
  return upload && { ...upload, body: upload.body.toString() };
}

const bodyOf = (records: readonly unknown[]) => newest(records)?.body;

describe('the newest upload of a history', () => {
  it('is the one with the latest time, at either end', () => {
    const [a, b] = [record(1, '2026-01-01 00:00:01', 'a'), record(2, '2026-01-01 00:00:02', 'b')];
    assert.deepEqual([bodyOf([a, b]), bodyOf([b, a])], ['b', 'b']);
    const { timestamp, id } = newest([a, b])!;
    assert.deepEqual([timestamp, id], [Date.UTC(2025, 11, 31, 16, 0, 2), 2]);
  });

  it('is the one with the higher id, or at the newer end, if times are equal', () => {
    const time = '2026-01-01 00:00:02';
    const [a, b] = [record('9', time, 'a'), record('10', time, 'b')];
    assert.deepEqual([bodyOf([a, b]), bodyOf([b, a])], ['b', 'b']);
    const [c, d] = [record('x', time, 'c'), record('y', time, 'd')];
    const older = record('z', '2026-01-01 00:00:01', 'older');
    assert.deepEqual([bodyOf([older, c, d]), bodyOf([d, c, older])], ['d', 'd']);
  });

  it('is found among malformed records and those of another device', () => {
    const time = '2026-01-01 00:00:01';
    const odd = [null, 1, 'x', [], {}, record(9, time, 7), record(9, time, 'other', 8)];
    assert.equal(bodyOf([...odd, record(1, time, 'good', '007'), ...odd]), 'good');
    assert.equal(newest(odd), undefined);
    assert.equal(newest([]), undefined);
  });

  it('has the time of the reading if its own is invalid, and counts only if none has a time', () => {
    assert.equal(newest([record(1, 'yesterday', 'a')])?.timestamp, NOW);
    const good = record(1, '2026-01-01 00:00:01', 'good');
    assert.equal(bodyOf([good, record(2, null, 'odd')]), 'good');
  });

  it('is decoded as configured, as learned, or as the bodies look', () => {
    const base64 = [record(1, '2026-01-01 00:00:01', Buffer.from('text').toString('base64'))];
    assert.equal(newest(base64, 'base64')?.body, 'text');
    assert.equal(newest(base64, 'auto')?.body, 'text');
    assert.equal(newest(base64, 'text')?.body, 'dGV4dA==');
    assert.equal(newest(base64, 'auto', { form: 'text' })?.body, 'dGV4dA==');
    assert.equal(newest(base64, 'text', { form: 'base64' })?.body, 'dGV4dA==');
    const plain = [record(1, '2026-01-01 00:00:01', 'no Base64')];
    assert.throws(() => newest(plain, 'base64'), { code: 'INVALID_RESPONSE' });
    assert.equal(newest(plain, 'auto', { form: 'base64' })?.body, 'no Base64');
    assert.equal(newest(plain, 'auto', { form: 'tagged' })?.altered, true);
  });

  it('has its time in the zone that was learned', () => {
    const records = [record(1, '2026-01-01 00:00:01', 'a')];
    assert.equal(newest(records, 'text', { zone: 0 })?.timestamp, Date.UTC(2026, 0, 1, 0, 0, 1));
  });
});
