import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCounter } from '../../bench/contenders/counter';
import { pushLoop } from '../../bench/contenders/push-loop';
import { startChild } from '../../bench/process/child';
import { merge, type Check, type Results, type Table } from '../../bench/report/results';
import type { ServiceMethods } from '../../bench/service/service';
import { repository } from '../support/repository';

const execute = promisify(execFile);
const bench = join(repository, 'dist', 'bench', 'bench.js');

describe('the benchmark', () => {
  it('runs each contender, and counts what comes of it', async () => {
    const works = 'signing,push,uploads';
    await execute(process.execPath, [bench, '--smoke', '--only', works], { cwd: repository });
    const file = join(repository, '.cache', 'bench', 'smoke', 'results.json');
    const { tables } = JSON.parse(await readFile(file, 'utf8')) as Results;
    const contenders = tables.map(({ id, rows }) => [id, rows.map(({ contender }) => contender)]);
    assert.deepEqual(contenders, [
      ['signing', ['open-hash', 'open', 'server-hash', 'server']],
      ['push', ['limit', 'ours']],
      ['uploads-2', ['limit', 'ours']],
    ]);
    for (const { columns, rows } of tables) {
      for (const { values } of rows) {
        for (const { key } of columns) assert.ok(values[key]?.every((value) => value > 0));
      }
    }
  });

  it('puts a work that was measured again in its place among the others', () => {
    const setting = {
      ...{ date: '2026-01-01', plan: 'full', package: '1.0.0' },
      ...{ node: 'v20.20.2', nodeRed: '4.1.0', cpu: 'a processor', cores: 2 },
    };
    const table = (id: string, title: string): Table => ({ id, title, columns: [], rows: [] });
    const check = (id: string, value: number): Check => ({
      ...{ id, text: id, unit: '×', digits: 2 },
      values: [value],
    });
    const earlier: Results = {
      setting,
      tables: [table('signing', 'first'), table('push', 'first'), table('size', 'first')],
      checks: [check('signing-open', 1), check('push-core', 1), check('push-limit', 1)],
    };
    const later: Results = {
      setting: { ...setting, date: '2026-01-02' },
      tables: [table('push', 'again')],
      checks: [check('push-core', 2), check('push-limit', 2)],
    };
    const { tables, checks, setting: merged } = merge(earlier, later);
    assert.equal(merged.date, '2026-01-02');
    assert.deepEqual(
      tables.map(({ id, title }) => [id, title]),
      [
        ['signing', 'first'],
        ['push', 'again'],
        ['size', 'first'],
      ],
    );
    assert.deepEqual(
      checks.map(({ id, values }) => [id, ...values]),
      [
        ['signing-open', 1],
        ['push-core', 2],
        ['push-limit', 2],
      ],
    );
    const other = { ...later, setting: { ...setting, cpu: 'another processor' } };
    assert.throws(() => merge(earlier, other), /is of cpu a processor, this run of another/);
  });

  it('refuses a push that is not signed as it should be', async () => {
    const service = startChild<ServiceMethods>('service/service');
    try {
      const { http } = await service.ask('addresses');
      const path = '/openapi/dev/push/message/?appid=10001&timestamp=1700000000&sign=wrong';
      const body = 'devid=10000001&message=hello&format=MSG';
      const { status } = await fetch(`${http}${path}`, { method: 'POST', body });
      assert.equal(status, 401);
      assert.deepEqual(await service.ask('pushes'), { pushes: 1, refused: 1 });
    } finally {
      await service.end();
    }
  });

  it('ends a run whose time is over before as many pushes run as may', async () => {
    const slowly = (_chipid: string, _message: string, done: () => void): void => {
      const until = performance.now() + 30;
      while (performance.now() < until);
      setImmediate(done);
    };
    const { operations } = await pushLoop({ seconds: 0.02, devices: 2 }, slowly);
    assert.ok(operations <= 1);
  });

  it('fails when more uploads come than were sent', async () => {
    const counter = createCounter();
    counter.begin();
    counter.count();
    counter.count();
    await assert.rejects(counter.end(1), /2 uploads came, not 1/);
  });
});
