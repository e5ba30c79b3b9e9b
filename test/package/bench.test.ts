import assert from 'node:assert/strict';
import { compare } from '../../bench/compare';
import { FULL } from '../../bench/plan';
import { runRounds } from '../../bench/rounds';
import type { Job } from '../../bench/scenario';
import { scenariosOf } from '../../bench/scenarios';
import { pushFor } from '../../bench/scenarios/push';
import { ServiceClient } from '../../bench/service/client';
import { startService } from '../../bench/service/service';
import { Receiver } from '../../bench/subjects/receiver';

const PLAN = { ...FULL, rounds: 1, seconds: 0.1, warmUp: 0.05, uploadChannels: [2] };

describe('the benchmark', () => {
  for (const name of ['push', 'uploads-2']) {
    it(`measures the package and a bare program: ${name}`, async () => {
      const scenario = scenariosOf(PLAN).find((each) => each.name === name)!;
      const subjects = scenario.subjects.filter((subject) =>
        ['limit', 'ours'].includes(subject.name),
      );
      const rows = await runRounds(scenario, subjects, PLAN);
      assert.deepEqual(
        rows.map((row) => row.name),
        ['limit', 'ours'],
      );
      for (const { key } of scenario.columns) {
        for (const { values } of rows) assert.ok(values[key]!.every((value) => value > 0));
      }
    });
  }

  it('refuses a push with a wrong signature', async () => {
    const { addresses, close } = await startService();
    try {
      const path = '/openapi/dev/push/message/?appid=10001&timestamp=1700000000&sign=wrong';
      const body = 'devid=10000001&message=hello&format=MSG';
      const headers = { connection: 'close' };
      const { status } = await fetch(addresses.push + path, { method: 'POST', body, headers });
      assert.equal(status, 401);
      assert.equal((await new ServiceClient(addresses).state()).pushes, 1);
    } finally {
      close();
    }
  });

  it('fails when more uploads come than were sent', async () => {
    const { addresses, close } = await startService();
    try {
      const job: Job = {
        ...{ subject: 'limit', plan: PLAN, packageFolder: '' },
        service: new ServiceClient(addresses),
      };
      const receiver = await Receiver.start(job, 'http');
      const flood = receiver.flood(0.01, 1);
      receiver.received++;
      await assert.rejects(flood, /1 of 0 uploads came/);
    } finally {
      close();
    }
  });

  it('ends when its time is over before it has started as many pushes as may run', async () => {
    const slowly = (_chipid: string, _message: string, done: () => void): void => {
      const until = performance.now() + 30;
      while (performance.now() < until);
      setImmediate(done);
    };
    const { pushes } = await pushFor(0.02, slowly);
    assert.ok(pushes <= 1);
  });

  it('tells what became worse from what the machine does to an unchanged version', () => {
    const before = [100, 110, 90];
    const again = [104, 105, 91];
    const verdict = (now: number[], better: 'lower' | 'higher' = 'lower'): string =>
      compare({ before, now, again }, better).verdict;
    assert.equal(verdict([103, 108, 92]), 'no difference');
    assert.equal(verdict([112, 120, 99]), 'WORSE');
    assert.equal(verdict([112, 120, 99], 'higher'), 'better');
    assert.equal(verdict([90, 95, 80]), 'better');
    assert.equal(verdict([90, 95, 80], 'higher'), 'WORSE');
    // One bad round is no verdict, and on a noisy machine neither is a difference of a tenth.
    assert.equal(verdict([150, 107, 90]), 'no difference');
    const noisy = compare({ before, now: [112, 120, 99], again: [130, 105, 91] }, 'lower');
    assert.equal(noisy.verdict, 'no difference');
  });
});
