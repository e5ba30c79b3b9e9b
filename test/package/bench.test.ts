import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareScenario, judge } from '../../bench/compare';
import { pageText } from '../../bench/page';
import { FULL } from '../../bench/plan';
import { readResults } from '../../bench/results';
import { runRounds } from '../../bench/rounds';
import type { Job } from '../../bench/scenario';
import { scenariosOf } from '../../bench/scenarios';
import { pushFor } from '../../bench/scenarios/push';
import { ServiceClient } from '../../bench/service/client';
import { startService } from '../../bench/service/service';
import { Receiver } from '../../bench/subjects/receiver';
import { repository } from '../tooling/repository';

const PLAN = { ...FULL, rounds: 1, seconds: 0.1, warmUp: 0.05, uploadChannels: [2] };

describe('the benchmark', () => {
  it('measures the package and a bare program', async () => {
    const scenario = scenariosOf(PLAN).find(({ name }) => name === 'uploads-2')!;
    const subjects = scenario.subjects.filter(({ name }) => ['limit', 'ours'].includes(name));
    const rows = await runRounds(scenario, subjects, PLAN);
    assert.deepEqual(
      rows.map((row) => row.name),
      ['limit', 'ours'],
    );
    for (const { key } of scenario.columns) {
      for (const { values } of rows) assert.ok(values[key]!.every((value) => value > 0));
    }
  });

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
      await close();
    }
  });

  it('fails when more uploads come than were sent', async () => {
    const { addresses, close } = await startService();
    try {
      const job: Job = {
        ...{ subject: 'limit', plan: PLAN, packageFolder: '', repeat: (measure) => measure() },
        service: new ServiceClient(addresses),
      };
      const receiver = await Receiver.start(job);
      const flood = receiver.flood(0.01, 1);
      receiver.received++;
      await assert.rejects(flood, /1 of 0 uploads came/);
    } finally {
      await close();
    }
  });

  it('ends when its time is over, even before it has started as many pushes as may run', async () => {
    const slowly = (_chipid: string, _message: string, done: () => void): void => {
      const until = performance.now() + 30;
      while (performance.now() < until);
      setImmediate(done);
    };
    const { pushes } = await pushFor(0.02, slowly);
    assert.ok(pushes <= 1);
  });

  it('calls a version worse only if nearly all rounds do, by more than a negligible difference', () => {
    const slower = [1.05, 1.3, 1.04, 1.06, 1.09, 1.03, 1.05, 1.2];
    assert.equal(judge(slower), 'WORSE');
    assert.equal(judge(slower.map((ratio) => 1 / ratio)), 'better');
    assert.equal(judge([...slower.slice(1), 0.6]), 'WORSE');
    assert.equal(judge([...slower.slice(2), 0.6, 0.99]), 'no difference');
    assert.equal(judge(slower.map(() => 1.01)), 'no difference');
    assert.equal(judge(slower.slice(0, 4)), 'no difference');
  });

  it('leaves out what an earlier version cannot run', async () => {
    const scenario = scenariosOf(PLAN).find(({ name }) => name === 'start')!;
    const earlier = { ref: 'old', folder: tmpdir() };
    assert.deepEqual(await compareScenario(scenario, PLAN, earlier), [
      { what: 'start, Node-RED with the package: old cannot run this', verdict: 'left out' },
    ]);
  });

  it('makes the page, with every number in it, from the recorded results', () => {
    const scenarios = scenariosOf(FULL);
    const read = (...path: string[]): string => readFileSync(join(repository, ...path), 'utf8');
    const results = readResults(scenarios);
    const page = pageText(read('bench', 'page.md'), scenarios, results);
    assert.equal(read('docs', 'inside', 'performance.md'), page, 'Run npm run bench -- --page.');
  });
});
