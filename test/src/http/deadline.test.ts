import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createDeadlines } from '../../../src/http/deadline';

describe('the end of a call', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('is told once, with its reason', () => {
    const reasons: string[] = [];
    const controller = new AbortController();
    const deadline = createDeadlines().start(2, controller.signal);
    deadline.listen((end) => reasons.push(end.reason));
    mock.timers.tick(1999);
    assert.deepEqual(reasons, []);
    mock.timers.tick(1);
    controller.abort();
    assert.deepEqual(reasons, ['timeout']);
  });

  it('is told at once to a stage that comes after it', () => {
    const reasons: string[] = [];
    const deadline = createDeadlines().start(2, AbortSignal.abort());
    deadline.listen((end) => reasons.push(end.reason));
    assert.deepEqual(reasons, ['aborted']);
  });

  it('comes to all calls, and to every later one, when the client is closed', () => {
    const deadlines = createDeadlines();
    const reasons: string[] = [];
    deadlines.start(2).listen((end) => reasons.push(end.reason));
    deadlines.close();
    deadlines.start(2).listen((end) => reasons.push(end.reason));
    assert.deepEqual(reasons, ['aborted', 'aborted']);
  });

  it('does not come when the call is over', () => {
    const controller = new AbortController();
    const deadlines = createDeadlines();
    const deadline = deadlines.start(2, controller.signal);
    deadline.listen(() => assert.fail('it came'));
    deadline.clear();
    controller.abort();
    deadlines.close();
    mock.timers.tick(10_000);
    assert.equal(deadline.ended, undefined);
  });

  it('may be as far away as a timer can be, and never comes early for that', () => {
    const deadline = createDeadlines().start(1e12);
    mock.timers.tick(24 * 60 * 60 * 1000);
    assert.equal(deadline.ended, undefined);
    deadline.clear();
  });
});
