import assert from 'node:assert/strict';
import { DeviceCloudError } from '../../../src/errors';
import {
  AdaptiveLimiter,
  READINGS,
  AdaptiveLimiters,
  type PacedAttempt,
} from '../../../src/http/adaptive-limiters';
import { ReadLimiter } from '../../../src/history/read-limiter';
import { Reading } from '../../../src/recovery/reading';
import { retryDelay } from '../../../src/recovery/reading';
import { numbers } from '../http/simulated-service';
import { pass, tick, useClock } from '../../support/clock';

/** Devices that come back in half a minute at 20 readings a second. */
const MANY = 600;
const PER_SECOND = 20;
const SECOND = 1000;

describe('the histories of all devices after a restart', () => {
  let asked: number[] = [];
  let answered = 0;
  useClock(0);
  beforeEach(() => {
    [asked, answered] = [[], 0];
  });

  /** The service accepts a limited number of readings in each second, and refuses the others. */
  async function answer(retryAfter: number | undefined, tell?: (wait: number) => void) {
    const now = Date.now();
    asked.push(now);
    const second = Math.floor(now / SECOND);
    const taken = asked.filter((at) => Math.floor(at / SECOND) === second).length;
    await new Promise((resolve) => void setTimeout(resolve, 5));
    if (taken <= PER_SECOND) return [];
    if (retryAfter !== undefined) tell?.(retryAfter);
    throw new DeviceCloudError('SERVER_ERROR', 'overloaded', 503);
  }

  async function readAll(devices: number, retryAfter?: number): Promise<void> {
    const random = numbers(3);
    const limiter = new ReadLimiter(
      new AdaptiveLimiter({ now: Date.now, idle: Date.now, random }, READINGS),
    );
    for (let device = 0; device < devices; device++) {
      const read = async (_signal: AbortSignal, attempt: number, turn: PacedAttempt) => {
        let wait: number | undefined;
        try {
          await answer(retryAfter, (asked) => (wait = asked));
          turn.succeeded();
          answered++;
        } catch {
          turn.failed('503', wait);
          reading.later(retryDelay(attempt, true, random), attempt + 1);
        }
      };
      const reading = new Reading(limiter, { urgency: 'live', read });
      reading.start();
    }
    while (answered < devices && Date.now() < 200 * SECOND) await pass(1, 1);
  }
  const most = (): number => {
    let from = 0;
    return asked.reduce((highest, at, index) => {
      while (at - (asked[from] ?? at) >= SECOND) from++;
      return Math.max(highest, index - from + 1);
    }, 0);
  };

  it('are requested within twice the rate of a service that refuses more than 20 a second', async () => {
    await readAll(MANY);
    assert.equal(answered, MANY);
    assert.ok(most() <= 2 * PER_SECOND, `${most()} in a second`);
    assert.ok(asked.length < MANY * 1.05, `${asked.length} readings`);
  });

  it('are read as quickly if most are deep and take much longer than the others', async () => {
    const clock = { now: Date.now, idle: Date.now, random: () => 0.5 };
    const limiter = new ReadLimiter(new AdaptiveLimiters(clock).of('http://service', READINGS));
    for (let device = 0; device < MANY; device++) {
      const granted = (turn: PacedAttempt): void => {
        setTimeout(() => turn.succeeded(), device % 3 === 0 ? 20 : 150);
        answered++;
      };
      limiter.acquire({ urgency: 'live', granted });
    }
    while (answered < MANY && Date.now() < 200 * SECOND) tick(1);
    assert.ok(Date.now() < 20 * SECOND, `${Date.now() / SECOND} s`);
  });

  it('are not requested while the service says to wait', async () => {
    const wait = 10 * SECOND;
    await readAll(MANY / 4, wait);
    const pauses = asked.filter((at, index) => at - (asked[index - 1] ?? at) >= wait);
    assert.ok(pauses.length > 0);
    assert.ok(most() <= 2 * PER_SECOND, `${most()} in a second`);
  });
});
