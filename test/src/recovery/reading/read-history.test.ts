import assert from 'node:assert/strict';
import { createApplication } from '../../../../src/application';
import { AdaptiveLimiters } from '../../../../src/pace/adaptive-limiters';
import { attemptFailure } from '../../../../src/pace/attempt-failure';
import { readInTurn } from '../../../../src/recovery/reading/read-history';
import { atEnd } from '../../../../tooling/servers/at-end';
import {
  httpService,
  inSequence,
  json,
  raw,
  type Script,
} from '../../../../tooling/servers/http-service';
import { clientOf, KEYS } from '../../support/client';

const { signal } = new AbortController();

/** Reads a history from a service. @returns the calls of the limiter, and how often the service was asked */
async function readOnce(script: Script): Promise<{ report: string; requests: number }> {
  const { baseUrl, requests } = await httpService(script);
  const options = { baseUrl, ...KEYS, proxy: false } as const;
  const application = createApplication(options, new AdaptiveLimiters());
  atEnd(() => application.close());
  const { read } = application.open!.listening.shared;
  let report = '';
  await readInTurn(read, '1', signal, {
    succeeded: () => (report = 'succeeded'),
    failed: (reason, wait) => (report = `${attemptFailure(reason)} ${wait}`),
    cancel: () => (report = 'cancelled'),
  }).catch(() => undefined);
  return { report, requests: requests.length };
}

describe('a reading of a history, which is paced', () => {
  const reset: Script = (response) => void response.socket?.destroy();
  const answers: [what: string, script: Script, report: string][] = [
    ['an answer', json([]), 'succeeded'],
    ['503 with Retry-After', raw('', 503, { 'retry-after': '7' }), 'refusal 7000'],
    ['429', raw('', 429), 'refusal undefined'],
    ['502', raw('', 502), 'failure undefined'],
    ['a reset', reset, 'failure undefined'],
    ['404', raw('', 404), 'unrelated undefined'],
    ['an answer that is no history', json({}), 'unrelated undefined'],
  ];
  for (const [what, script, meaning] of answers) {
    it(`is requested once, and reported to the limiter: ${what}`, async () => {
      assert.deepEqual(await readOnce(script), { report: meaning, requests: 1 });
    });
  }

  it('is tried again twice, each in another turn, if only the latest upload is needed', async () => {
    const record = { id: 1, body: 'x', create_time: '2026-01-01 00:00:00', dev: '1' };
    const service = await httpService(inSequence(raw('', 503), raw('', 429), json([record])));
    const latest = await clientOf(service.baseUrl).fleet.readLatest('1');
    assert.equal(latest?.body.toString(), 'x');
    assert.equal(service.requests.length, 3);
  });
});
