import assert from 'node:assert/strict';
import { isSameUpload, readToken, type Token, writeToken } from '../../../src/recovery/token';
import { WRITINGS } from '../../../src/recovery/writing';
import type { Upload } from '../../../src/types';
import { keptOf } from './history';

const AT = Date.UTC(2026, 0, 1);
const HOUR = 3600_000;

const live = (body: string | Buffer): Upload => ({
  ...{ chipid: '1', appid: '2', timestamp: AT + 700, body: Buffer.from(body) },
});
const recorded = (body: string | Buffer, timestamp = AT): Upload => ({
  ...{ ...live(body), timestamp, replayed: true, id: 7 },
});
const textOf = (upload: Upload): string =>
  writeToken(upload, { appid: '2', node: 'n', run: 1, serial: 1 });
const tokenOf = (upload: Upload): Token => readToken(textOf(upload), '2');

describe('the token of an upload', () => {
  it('is good for the same upload as any history writes it', () => {
    for (const body of ['a', ' a\n', 'id7, 5', '{"a":1,"b":2}', 'ä', 'x'.repeat(500)])
      for (const writing of WRITINGS) {
        const kept = keptOf(body, writing);
        const decoded = writing === 'base64' ? body : kept;
        for (const token of [tokenOf(live(body)), tokenOf(recorded(kept))])
          for (const again of [kept, decoded])
            assert.ok(isSameUpload(token, recorded(again), true), `${body}, ${writing}`);
      }
    const bytes = Buffer.from([0, 255, 1]);
    for (const kept of [bytes, bytes.toString('base64')])
      assert.ok(isSameUpload(tokenOf(live(bytes)), recorded(kept), true));
  });

  it('is good for no other', () => {
    const token = tokenOf(live('a'));
    assert.equal(isSameUpload(token, recorded('b'), true), false);
    assert.equal(isSameUpload(token, recorded('a', AT + 60_000), false), false);
    assert.equal(isSameUpload(token, recorded('a', AT + 8 * HOUR), true), false);
    assert.equal(
      isSameUpload(token, recorded('a', AT + 8 * HOUR), false),
      true,
      'no zone is known',
    );
  });

  it('has no body in it', () => {
    assert.doesNotMatch(Buffer.from(textOf(live('secret')), 'base64url').toString(), /secret/);
  });
});
