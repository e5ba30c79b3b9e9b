import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { inTimeZone } from '../../tooling/time-zone';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const two = (part: number): string => String(part).padStart(2, '0');

/** The earlier and the later one of the days of a point in time, on this machine and in Beijing. */
function daysOf(date: Date): [first: string, last: string] {
  const here = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  const there = new Date(date.getTime() + 8 * 3600_000).toISOString().slice(0, 10);
  const [first = '', last = ''] = [here, there.replaceAll('-', '')].sort();
  return [first, last];
}

const MOMENT = new Date('2024-02-29T11:34:56.789Z');
const DAYS = daysOf(MOMENT);

const GOOD: [value: unknown, days: [first: string, last: string]][] = [
  ['20240229', ['20240229', '20240229']],
  [20240229, ['20240229', '20240229']],
  ['2024-02-29', ['20240229', '20240229']],
  ['2024-02-29T11:34:56.789Z', DAYS],
  ['2024-02-29T12:34:56.789+01:00', DAYS],
  [MOMENT.getTime(), DAYS],
  [MOMENT, DAYS],
];

const BAD: unknown[] = [
  ...[undefined, null, '', true, {}, [], NaN, Infinity, 1e17, 10n, new Date(NaN), () => 1],
  ...['20240230', '2024-13-01', '20241', '29.02.2024', 'yesterday', '1e9', '../../20240229'],
  ...['20240229/', '2024-02-29T', '２０２４０２２９', '20240229\r\n'],
];

describe('the history node, for all devices between two dates', () => {
  useNodeRed();
  let cloud: Simulator;

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('history', { operation: 'sync', ...properties })]);
  }
  /** The request of the latest call, of an empty history: the end day is requested once more. */
  const asked = (): string | undefined => cloud.requests.at(-2)?.path.slice('/openapi'.length);

  it('accepts YYYYMMDD, a Date, milliseconds and ISO text', async () => {
    await start();
    for (const [value, [first, last]] of GOOD) {
      const out = await call('history', { begin: value, end: '20991231' });
      assert.deepEqual(out.payload, []);
      assert.equal(asked(), `/sync/${first}/20991231/`);
      await call('history', { begin: '20000101', end: value });
      assert.equal(asked(), `/sync/20000101/${last}/`);
    }
  });

  it('refuses everything else, before anything is sent', async () => {
    await start();
    for (const value of BAD) {
      await fail('history', { begin: value, end: '20991231' }, 'INVALID_INPUT');
      await fail('history', { begin: '20000101', end: value }, 'INVALID_INPUT');
    }
    await fail('history', { begin: '20240302', end: '20240301' }, 'INVALID_INPUT');
    assert.equal(cloud.requests.length, 0);
    await call('history', { begin: '20240301', end: '20240301' });
    assert.equal(asked(), '/sync/20240301/20240301/');
  });

  it('includes uploads up to the present, at any time of day', async () => {
    await start({ begin: '', beginType: 'date', end: '', endType: 'date' });
    for (const zone of ['UTC', 'America/New_York', 'Asia/Shanghai', 'Pacific/Auckland']) {
      await inTimeZone(zone, async () => {
        cloud.upload('10000001', zone);
        const out = await call('history', {});
        const bodies = (out.payload as { body: string }[]).map(({ body }) => body);
        assert.ok(bodies.includes(zone), `${zone}: ${String(asked())}`);
      });
    }
  });

  it('uses the dates of its properties', async () => {
    await start({ begin: '20240101', beginType: 'str', end: '', endType: 'date' });
    const [, before] = daysOf(new Date());
    await call('history', { begin: 'ignored' });
    const [, after] = daysOf(new Date());
    assert.ok(
      [before, after].some((today) => asked() === `/sync/20240101/${today}/`),
      asked(),
    );
  });

  it('accepts dates from an expression', async () => {
    await start({
      begin: '$fromMillis(from)',
      beginType: 'jsonata',
      end: 'period.end',
      endType: 'msg',
    });
    await call('history', { from: MOMENT.getTime(), period: { end: '20240301' } });
    assert.equal(asked(), `/sync/${DAYS[0]}/20240301/`);
  });
});
