import assert from 'node:assert/strict';
import { Fleet, numbers, type Outcome, type Service } from './simulated-service';
import { tick, useClock } from '../../support/clock';

const ALL = 5000;
/** As many as come back in a minute at 20 a second. */
const MANY = 1200;
const SECOND = 1000;

const takesAll: Service = () => ({ after: 5 });

/** Accepts a number of them a second, and lets the others wait. */
function queues(perSecond: number): Service {
  let free = 0;
  return (at) => {
    free = Math.max(free, at) + SECOND / perSecond;
    return { after: free - at + 2 };
  };
}

/** Accepts a number of them in each second, and refuses the others. */
function refuses(perSecond: number, retryAfter?: number): Service {
  let [second, taken] = [-1, 0];
  return (at) => {
    const now = Math.floor(at / SECOND);
    if (now !== second) [second, taken] = [now, 0];
    if (taken++ < perSecond) return { after: 5 };
    return { after: 5, reason: '503', ...(retryAfter !== undefined && { retryAfter }) };
  };
}

/** Fails in one way for some time, and then accepts all. */
const failsUntil =
  (end: number, outcome: Outcome): Service =>
  (at) =>
    at < end ? outcome : { after: 5 };

describe('channels that all reconnect at once', () => {
  let fleet: Fleet;
  useClock(0);
  beforeEach(() => {
    fleet = new Fleet();
  });

  it('begin at 50 a second, and are back within 15 s at up to 500 if the service accepts all', () => {
    const took = fleet.run(ALL, takesAll);
    assert.ok(fleet.between(0, SECOND) <= 50);
    assert.ok(took < 15 * SECOND, `${took} ms`);
    assert.ok(fleet.most() > 450 && fleet.most() <= 500, `${fleet.most()} in a second`);
  });

  it('are quick although every fiftieth handshake takes a second longer', () => {
    const random = numbers(7);
    const took = fleet.run(ALL, () => ({ after: 5 + (random() < 0.02 ? SECOND : 20 * random()) }));
    assert.ok(took < 20 * SECOND, `${took} ms`);
  });

  it('are quick although this process is so busy that each handshake takes a second', () => {
    fleet.idleShare = 0.05;
    let attempts = 0;
    const took = fleet.run(ALL, () => ({ after: attempts++ < 100 ? 5 : SECOND }));
    assert.ok(took < 20 * SECOND, `${took} ms`);
  });

  it('are quick although some devices are never accepted', () => {
    const service: Service = (_at, channel) =>
      channel % 50 === 0 ? { after: 5, reason: '500' } : { after: 5 };
    fleet.run(ALL, service, 20 * SECOND);
    assert.equal(fleet.opened.length, ALL * 0.98);
  });

  it('stay within twice the rate of a service that accepts 20 a second and queues the others', () => {
    const took = fleet.run(MANY, queues(20));
    assert.equal(fleet.opened.length, MANY);
    assert.ok(fleet.most() <= 40, `${fleet.most()} in a second`);
    assert.ok(took < 90 * SECOND, `${took} ms`);
  });

  it('stay within twice the rate of a service that refuses more than 20 a second', () => {
    const took = fleet.run(MANY, refuses(20));
    assert.equal(fleet.opened.length, MANY);
    assert.ok(fleet.most() <= 40, `${fleet.most()} in a second`);
    assert.ok(fleet.attempts.length < MANY * 1.05, `${fleet.attempts.length} attempts`);
    assert.ok(took < 100 * SECOND, `${took} ms`);
  });

  it('wait as long as a refusal says, and continue at half the rate', () => {
    const wait = 30 * SECOND;
    const service = refuses(20, wait);
    let resumes = 0;
    fleet.run(MANY / 4, (at, channel) => {
      assert.ok(at >= resumes, `at ${at} ms instead of ${resumes} ms`);
      const outcome = service(at, channel);
      if (outcome.reason !== undefined) resumes = at + outcome.after + wait;
      return outcome;
    });
    assert.equal(fleet.opened.length, MANY / 4);
    assert.ok(fleet.most() < 30, `${fleet.most()} in a second`);
  });

  const outages: [string, Outcome, perSecond: number][] = [
    ['is not there', { after: 2, reason: 'ECONNREFUSED' }, 10],
    ['refuses all', { after: 5, reason: '503' }, 1],
    ['has a gateway that fails', { after: 5, reason: '502' }, 2],
    ['does not answer', { after: 15 * SECOND, reason: 'ETIMEDOUT' }, 2],
    ['closes what it has opened', { after: 5, closes: 50 }, 10],
  ];
  for (const [what, outcome, perSecond] of outages) {
    it(`try a service that ${what} at most ${perSecond} times a second, and are back soon after`, () => {
      const end = 60 * SECOND;
      const took = fleet.run(ALL, failsUntil(end, outcome));
      const last = fleet.between(end - 20 * SECOND, end) / 20;
      assert.ok(last <= perSecond && last >= 0.9, `${last} a second`);
      assert.equal(fleet.opened.length, ALL);
      assert.ok(took - end < 20 * SECOND, `${took - end} ms`);
    });
  }

  it('are all back although the service refuses everything every other 10 s', () => {
    fleet.run(ALL, (at) =>
      Math.floor(at / (10 * SECOND)) % 2 ? { after: 5, reason: '503' } : { after: 5 },
    );
    assert.equal(fleet.opened.length, ALL);
  });

  it('are all back although the service refuses every other one', () => {
    let attempts = 0;
    fleet.run(200, () => ({ after: 5, ...(attempts++ % 2 === 0 && { reason: '429' }) }));
    assert.equal(fleet.opened.length, 200);
  });

  it('begin at 50 a second again the next time, also after others that came one at a time', () => {
    fleet.run(ALL, takesAll);
    for (let each = 0; each < 20; each++) {
      fleet.run(1, takesAll);
      tick(SECOND, 1);
    }
    const again = Date.now();
    fleet.run(ALL, takesAll, SECOND);
    assert.ok(fleet.between(again, again + SECOND) <= 50);
  });

  it('begin with a cluster at half of the last rate that the service took', () => {
    fleet = new Fleet(true);
    fleet.run(ALL, takesAll);
    for (let time = 0; time < 3; time++) {
      tick(20 * SECOND, 1);
      const again = Date.now();
      fleet.run(833, takesAll);
      const first = fleet.between(again, again + SECOND / 10);
      assert.ok(first >= 24 && first <= 29, `${first} in the first tenth of a second`);
      assert.ok(Date.now() - again < 2 * SECOND, `${Date.now() - again} ms`);
    }
  });

  it('begin with a cluster at half of a low rate, too, if the service has refused more', () => {
    fleet = new Fleet(true);
    fleet.run(MANY, refuses(20));
    tick(20 * SECOND, 1);
    const again = Date.now();
    fleet.run(MANY, refuses(20));
    assert.ok(fleet.between(again, again + SECOND) <= 20);
  });

  it('begin with a cluster at 50 a second after a few that the service took', () => {
    fleet = new Fleet(true);
    for (let time = 0; time < 3; time++) {
      const again = Date.now();
      fleet.run(60, takesAll);
      const first = fleet.between(again, again + SECOND);
      assert.ok(first > 44 && first <= 50, `${first}`);
      tick(20 * SECOND, 1);
    }
  });

  it('are not slowed down by answers that say nothing about load', () => {
    fleet.run(200, () => ({ after: 5, reason: '404' }), 3 * SECOND);
    assert.ok(fleet.between(SECOND, 2 * SECOND) >= 49);
  });
});
