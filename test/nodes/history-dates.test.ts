import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { inTimeZone } from '../tooling/time-zone';
import { cloudApp, load, node } from './support/flow';
import { call } from './support/messages';
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

describe('the history node, for all devices between two dates', () => {
  useNodeRed();
  let cloud: Simulator;

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('history', { operation: 'sync', ...properties })]);
  }
  /** The request of the latest call, of an empty history: the end day is requested once more. */
  const asked = (): string | undefined => cloud.requests.at(-2)?.path.slice('/openapi'.length);

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
