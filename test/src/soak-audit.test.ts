import assert from 'node:assert/strict';
import { audit } from '../soak/audit';
import { keptAs } from '../soak/kept';
import type { Accepted, Emitted } from '../soak/lines';

const DEVICE = '1';

/** Uploads of one device that the service has accepted, with a history that is tagged. */
const accepted = (...bodies: string[]): Accepted[] =>
  bodies.map((body, index) => {
    const kept = keptAs('tagged', body);
    return { id: index + 1, chipid: DEVICE, at: 0, body, ...(kept !== body && { kept }) };
  });

const live = (body: string): Emitted => ({ at: 0, chipid: DEVICE, replayed: false, body });
const replayed = (body: string): Emitted => ({ ...live(body), replayed: true });
const altered = (body: string): Emitted => ({ ...replayed(body), altered: true });

const judge = (uploads: readonly Accepted[], emitted: readonly Emitted[]) => {
  const { lost, doubled, outOfOrder, mismarked } = audit([DEVICE], uploads, emitted, true);
  return { lost, doubled, outOfOrder, mismarked };
};
const GOOD = { lost: 0, doubled: 0, outOfOrder: 0, mismarked: 0 };

describe("the soak's audit of a history that loses something", () => {
  it('finds nothing wrong with uploads that came live, and one that is marked as altered', () => {
    const uploads = accepted('a,1\r\n', 'a,2\r\n', 'a,3\r\n');
    assert.deepEqual(judge(uploads, [live('a,1\r\n'), altered('2'), live('a,3\r\n')]), GOOD);
  });

  it('finds an upload that came live and was given back as well', () => {
    const uploads = accepted('a\r\n', 'b,1');
    const emitted = [live('a\r\n'), replayed('a'), live('b,1'), altered('1')];
    assert.deepEqual(judge(uploads, emitted), { ...GOOD, doubled: 2 });
  });

  it('finds one that is lost though others have the same remains', () => {
    const uploads = accepted('{"t":1,"h":4}', '{"t":2,"h":4}', '{"t":3,"h":4}');
    const emitted = [altered('"h":4}'), live('{"t":2,"h":4}')];
    assert.deepEqual(judge(uploads, emitted), { ...GOOD, lost: 1 });
  });

  it('finds remains that pass for the whole upload, and uploads that are marked for no reason', () => {
    const uploads = accepted('a,1', 'b', 'c');
    const emitted = [replayed('1'), { ...live('b'), altered: true } as Emitted, replayed('c')];
    assert.deepEqual(judge(uploads, emitted), { ...GOOD, mismarked: 2 });
  });

  it('finds a mark where the history keeps what was uploaded', () => {
    const uploads: Accepted[] = [{ id: 1, chipid: DEVICE, at: 0, body: 'a' }];
    assert.equal(audit([DEVICE], uploads, [altered('a')]).mismarked, 1);
  });

  it('finds the order of those that were given back', () => {
    const uploads = accepted('a,1', 'a,2', 'a,3');
    const emitted = [live('a,3'), altered('2'), altered('1')];
    assert.deepEqual(judge(uploads, emitted), { ...GOOD, outOfOrder: 2 });
  });
});
