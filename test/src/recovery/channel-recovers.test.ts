import assert from 'node:assert/strict';
import type { Position, Upload } from '../../../src/index';
import type { Simulator } from '../../../src/simulator';
import { clientOf, simulator } from '../support/client';
import { CHIPID } from '../support/listener';
import { ponglessFront } from '../../tooling/servers/pongless-front';
import { until } from '../../tooling/until';
import { inEachDialect } from '../../tooling/dialect';

const MEBIBYTE = 1024 * 1024;

/** Listens with recovery, and waits for the first reading: everything uploaded from now on is recovered. */
async function recovering(service: Simulator, baseUrl: string, ping: number) {
  const uploads: Upload[] = [];
  const faults: string[] = [];
  const reasons: string[] = [];
  let position: Position | undefined;
  clientOf(baseUrl, { ping, random: () => 0.01 }).listen(
    CHIPID,
    {
      onUpload: (upload) => uploads.push(upload),
      onFault: (fault) => faults.push(fault),
      onState: (state, reason) => state === 'disconnected' && reasons.push(String(reason)),
    },
    { save: (saved) => (position = saved) },
  );
  await until(() => service.channels(CHIPID) === 1 && position !== undefined, 'a first position');
  const bodies = (): string[] => uploads.map(({ body }) => body.toString().slice(0, 20));
  return { uploads, bodies, faults, reasons };
}

inEachDialect('a channel with recovery', () => {
  it('recovers an upload that was too large for it, and reports the limit', async () => {
    const service = await simulator();
    const { uploads, bodies, faults, reasons } = await recovering(service, service.baseUrl, 30_000);
    // As Base64 in an event over 16 MiB; as text in the history below that.
    const large = `large ${'x'.repeat(13 * MEBIBYTE)}`;
    for (const text of ['before', large, 'after']) service.upload(CHIPID, text);
    await until(() => uploads.length >= 3, 'all uploads');
    assert.deepEqual(bodies(), ['before', large.slice(0, 20), 'after']);
    assert.equal(uploads[1]!.body.length, large.length);
    assert.equal(uploads[1]!.replayed, true);
    assert.deepEqual(
      faults.filter((fault) => /larger than 16 MiB, the limit/.test(fault)),
      faults,
    );
    assert.equal(faults.length, 1);
    assert.deepEqual(reasons, ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH']);
  });
});

// Here nothing depends on what a history keeps.
describe('a channel with recovery', () => {
  it('recovers from a service that never answers a ping, and stays open', async () => {
    const service = await simulator();
    const front = await ponglessFront(service.port);
    const { uploads, bodies, faults, reasons } = await recovering(service, front.baseUrl, 500);
    service.disconnect(CHIPID, { terminate: true });
    for (const text of ['missed 1', 'missed 2']) service.upload(CHIPID, text);
    await until(() => uploads.length >= 2, 'what was missed');
    service.upload(CHIPID, 'live');
    await until(() => uploads.length >= 3, 'a live upload');
    assert.deepEqual(bodies(), ['missed 1', 'missed 2', 'live']);
    assert.deepEqual([faults, reasons], [[], ['1006']]);
  });
});
