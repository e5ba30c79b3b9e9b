import assert from 'node:assert/strict';
import { AllServiceLimits, ServiceLimiter, type Place } from '../../../src/http/service-limiter';
import { tick, useClock } from '../../support/clock';

describe('what runs side by side for a service', () => {
  let granted: string[];
  let limiter: ServiceLimiter;
  useClock(0);
  beforeEach(() => {
    granted = [];
    limiter = new ServiceLimiter(2, 5000, () => 0, Date.now);
  });
  const acquire = (name: string): Place => limiter.acquire(() => void granted.push(name));

  it('is no more than there are places, in the order in which it came, and never begins at once', () => {
    const places = ['a', 'b', 'c', 'd'].map(acquire);
    assert.deepEqual(granted, []);
    tick(10);
    assert.deepEqual(granted, ['a', 'b']);
    places[1]?.release();
    tick(10);
    assert.deepEqual(granted, ['a', 'b', 'c']);
    // Again, which frees no further place.
    places[1]?.release();
    tick(10);
    assert.deepEqual(granted, ['a', 'b', 'c']);
  });

  it('leaves the queue without being called', () => {
    const [a, , c] = ['a', 'b', 'c', 'd'].map(acquire);
    tick(10);
    c?.release();
    a?.release();
    tick(10);
    assert.deepEqual(granted, ['a', 'b', 'd']);
  });

  it('gives its place to the next after a limit', () => {
    const [a] = ['a', 'b', 'c', 'd', 'e'].map(acquire);
    tick(10);
    tick(4989);
    assert.deepEqual(granted, ['a', 'b']);
    tick(20, 1);
    assert.deepEqual(granted, ['a', 'b', 'c', 'd']);
    // Its place is another one's by now.
    a?.release();
    tick(10);
    assert.deepEqual(granted, ['a', 'b', 'c', 'd']);
  });

  it('waits as long as the service asks, the longest time of several', () => {
    acquire('a');
    tick(10);
    limiter.pause(7000);
    acquire('b');
    limiter.pause(3000);
    tick(3000);
    limiter.pause(6000);
    tick(5999, 1);
    assert.deepEqual(granted, ['a']);
    tick(10, 1);
    assert.deepEqual(granted, ['a', 'b']);
  });

  it('waits for up to half as long again, so that clients come back spread out', () => {
    limiter = new ServiceLimiter(2, 5000, () => 0.5, Date.now);
    limiter.pause(1000);
    acquire('a');
    tick(1249, 1);
    assert.deepEqual(granted, []);
    tick(5, 1);
    assert.deepEqual(granted, ['a']);
  });

  it('is shared by the clients of a service, and by none of another', () => {
    const all = new AllServiceLimits();
    const one = all.of('http://one');
    assert.notEqual(all.of('http://two'), one);
    assert.equal(all.of('http://one'), one);
    assert.notEqual(one.handshakes, one.readings);
  });
});
