import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { FleetView } from '../../../nodes/app/application';
import type { Fleet } from '../../../src/index';

/** As much of a fleet as a view uses. */
function fakeFleet() {
  const fake = { polls: 0, pollList: () => (fake.polls++, () => void fake.polls--) };
  return fake as typeof fake & Fleet;
}

describe('the view of a fleet in the editor', () => {
  let view: FleetView;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    view = new FleetView();
  });
  afterEach(() => {
    view.close();
    mock.timers.reset();
  });

  it('polls the list once for all viewers, until a minute after the last request', () => {
    const fleet = fakeFleet();
    view.look(fleet);
    mock.timers.tick(40_000);
    view.look(fleet);
    mock.timers.tick(59_000);
    assert.equal(fleet.polls, 1);
    mock.timers.tick(1000);
    assert.equal(fleet.polls, 0);
  });

  it('ends with the client, and starts again with the next one', () => {
    const [first, next] = [fakeFleet(), fakeFleet()];
    view.look(first);
    view.look(next);
    assert.deepEqual([first.polls, next.polls], [0, 1]);
    view.close();
    assert.equal(next.polls, 0);
  });
});
