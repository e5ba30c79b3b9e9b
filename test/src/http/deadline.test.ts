import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createDeadlines } from '../../../src/http/deadline';

describe('the deadline of a call', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('calls back once, with its reason', () => {
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

  it('calls back at once if it has ended before', () => {
    const reasons: string[] = [];
    const deadline = createDeadlines().start(2, AbortSignal.abort());
    deadline.listen((end) => reasons.push(end.reason));
    assert.deepEqual(reasons, ['aborted']);
  });

  it('ends all calls, and every later one, when the client is closed', () => {
    const deadlines = createDeadlines();
    const reasons: string[] = [];
    deadlines.start(2).listen((end) => reasons.push(end.reason));
    deadlines.close();
    deadlines.start(2).listen((end) => reasons.push(end.reason));
    assert.deepEqual(reasons, ['aborted', 'aborted']);
  });

  it('does not call back when the call is over', () => {
    const controller = new AbortController();
    const deadlines = createDeadlines();
    const deadline = deadlines.start(2, controller.signal);
    deadline.listen(() => assert.fail('it called back'));
    deadline.clear();
    controller.abort();
    deadlines.close();
    mock.timers.tick(10_000);
    assert.equal(deadline.ended, undefined);
  });

  it('may be later than a timer can be, and never ends the call early', () => {
    const deadline = createDeadlines().start(1e12);
    mock.timers.tick(24 * 60 * 60 * 1000);
    assert.equal(deadline.ended, undefined);
    deadline.clear();
  });
});
