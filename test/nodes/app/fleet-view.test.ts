import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { FleetView } from '../../../nodes/app/fleet';
import type { Fleet } from '../../../src/index';

/** As much of a fleet as a view uses. */
function fakeFleet() {
  const fake = { revision: 1, polls: 0, pollList: () => (fake.polls++, () => void fake.polls--) };
  return fake;
}

describe('the view of a fleet in the editor', () => {
  let fleet: ReturnType<typeof fakeFleet> | undefined;
  let mayPoll = true;
  let announced: number[] = [];
  let view: FleetView;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    [fleet, mayPoll, announced] = [fakeFleet(), true, []];
    view = new FleetView({
      fleet: () => fleet as unknown as Fleet | undefined,
      mayPoll: () => mayPoll,
      onRevision: (revision) => announced.push(revision),
    });
  });
  afterEach(() => {
    view.close();
    mock.timers.reset();
  });

  it('polls the list once for all viewers, until a minute after the last request', () => {
    view.look();
    mock.timers.tick(40_000);
    view.look();
    mock.timers.tick(59_000);
    assert.equal(fleet?.polls, 1);
    mock.timers.tick(1000);
    assert.equal(fleet.polls, 0);
    fleet.revision++;
    mock.timers.tick(5000);
    assert.deepEqual(announced, []);
  });

  it('announces changes at most once a second', () => {
    view.look();
    fleet!.revision = 5;
    fleet!.revision = 7;
    mock.timers.tick(3000);
    fleet!.revision = 8;
    mock.timers.tick(1000);
    assert.deepEqual(announced, [7, 8]);
  });

  it('shows known devices without the keys to read the list', () => {
    mayPoll = false;
    view.look();
    fleet!.revision++;
    mock.timers.tick(1000);
    assert.deepEqual([fleet?.polls, announced], [0, [2]]);
  });

  it('ends with the client, and starts again with the next one', () => {
    view.look();
    const first = fleet;
    fleet = undefined;
    mock.timers.tick(1000);
    view.look();
    fleet = fakeFleet();
    view.look();
    assert.deepEqual([first?.polls, fleet.polls], [0, 1]);
  });
});
