import assert from 'node:assert/strict';
import type { UploadRecord } from '../../src/index';
import { advance, readPosition } from '../../nodes/history/incremental';

const record = (id: string | number, time: string): UploadRecord =>
  ({ id, create_time: time, body: 'p' }) as UploadRecord;
const range = (count: number, make: (n: number) => UploadRecord): UploadRecord[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** Reads one answer after another from the saved position, and returns how many new records each has. */
function readings(saved: unknown, answers: UploadRecord[][]): number[] {
  return answers.map((records) => {
    const { fresh, position } = advance(readPosition(saved), records);
    saved = JSON.parse(JSON.stringify(position));
    return fresh.length;
  });
}

const second = (n: number): string => String(100 + n).slice(1);

describe('the position in a history', () => {
  const minutes = range(600, (n) =>
    record(`h${n}`, `2026-11-22T${second(Math.floor(n / 60))}:${second(n % 60)}:00Z`),
  );

  it('repeats nothing of a history whose oldest records are gone', () => {
    assert.deepEqual(readings({}, [minutes, minutes.slice(300), minutes]), [600, 0, 0]);
  });

  it('does not compare times of different forms or zones, and emits each record once', () => {
    const other = [record('a', '2026-11-21 10:00:00'), record('b', '2026-11-22T00:00:00+08:00')];
    const later = [...minutes, ...other];
    assert.deepEqual(readings({}, [minutes, later, later, later]), [600, 2, 0, 0]);
  });

  it('relies on times only in a form that sorts: not with the day first, nor with AM and PM', () => {
    for (const form of [
      (n: number) => `${second(n % 28)}/11/2026`,
      () => '2026-11-22 12:59:59 AM',
    ]) {
      const first = range(600, (n) => record(`h${n}`, form(n)));
      const next = [record('n1', '01/12/2026'), record('n2', '2026-11-22 01:00:00 AM')];
      const all = [...first, ...next];
      assert.deepEqual(readings({}, [first, all, all]), [600, 2, 0]);
    }
  });

  it('stays small where times have an order', () => {
    let saved: unknown = {};
    for (let end = 300; end <= 600; end += 20) {
      saved = advance(readPosition(saved), minutes.slice(0, end)).position;
    }
    assert.ok(JSON.stringify(saved).length < 10_000);
  });
});
