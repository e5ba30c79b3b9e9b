import assert from 'node:assert/strict';
import type { DeviceCloudClient, QueuePlace } from '../../../src/index';
import { clientOf, simulator } from '../support/client';
import { failure, thrown } from '../support/failure';
import { CHIPID } from '../support/listener';
import { settled } from '../../../tooling/until';

describe('a place in the queue of a device', () => {
  let client: DeviceCloudClient;
  let texts: () => (string | undefined)[];

  beforeEach(async () => {
    const service = await simulator();
    client = clientOf(service.baseUrl);
    texts = () => service.device(CHIPID).received.map(({ text }) => text);
  });

  it('is that of the call that is made with it', async () => {
    const place = client.reserve(CHIPID);
    assert.deepEqual([place.chipid, place.hasTurn], [CHIPID, true]);
    const later = client.push(CHIPID, 'later');
    await settled();
    assert.deepEqual(texts(), []);
    await Promise.all([client.push(CHIPID, 'first', { place }), later]);
    assert.deepEqual(texts(), ['first', 'later']);
  });

  it('has its turn when the commands before it have ended, and says so once', async () => {
    let turns = 0;
    const before = client.push(CHIPID, 'before');
    const place = client.reserve(CHIPID, { onTurn: () => turns++ });
    assert.deepEqual([place.hasTurn, turns], [false, 0]);
    await before;
    assert.deepEqual([place.hasTurn, turns], [true, 1]);
    await client.push(CHIPID, 'x', { place });
    assert.equal(turns, 1);
  });

  it('may be used before its turn: the call waits for it', async () => {
    const before = client.push(CHIPID, 'before');
    const place = client.reserve(CHIPID);
    await Promise.all([client.push(CHIPID, 'x', { place }), before]);
    assert.deepEqual(texts(), ['before', 'x']);
  });

  it('that waits ends with its call', async () => {
    const controller = new AbortController();
    const first = client.reserve(CHIPID);
    const place = client.reserve(CHIPID);
    const call = client.push(CHIPID, 'x', { place, signal: controller.signal });
    await settled();
    controller.abort();
    await failure(call, 'UNREACHABLE');
    client.leave(first);
    await client.push(CHIPID, 'y');
    assert.deepEqual(texts(), ['y']);
  });

  it('that is given up holds up nothing, whether it has its turn or waits', async () => {
    const [first, second] = [client.reserve(CHIPID), client.reserve(CHIPID)];
    client.leave(second);
    client.leave(second);
    const call = client.push(CHIPID, 'x');
    await settled();
    assert.deepEqual(texts(), []);
    client.leave(first);
    await call;
    assert.deepEqual(texts(), ['x']);
  });

  it('is used once, also by a call that fails', async () => {
    const place = client.reserve(CHIPID);
    await failure(client.push(CHIPID, 'x', { place, signal: AbortSignal.abort() }), 'UNREACHABLE');
    await failure(client.push(CHIPID, 'x', { place }), 'INVALID_INPUT');
    await client.push(CHIPID, 'y');
    assert.deepEqual(texts(), ['y']);
  });

  it('is not used by a call that is invalid', async () => {
    const place = client.reserve(CHIPID);
    await failure(client.push(CHIPID, '\ud800', { place }), 'INVALID_INPUT');
    await failure(client.push(CHIPID, 'x', { place, when: 'online' }), 'INVALID_INPUT');
    const other = await failure(client.push('1', 'x', { place }), 'INVALID_INPUT');
    assert.match(other.message, /place is that of device 10000001, not of device 1\./);
    await client.push(CHIPID, 'x', { place });
    assert.deepEqual(texts(), ['x']);
  });

  it('that is none is INVALID_INPUT', async () => {
    for (const wrong of [1, 'place', {}, [], { chipid: CHIPID, hasTurn: true }]) {
      const place = wrong as QueuePlace;
      await failure(client.push(CHIPID, 'x', { place }), 'INVALID_INPUT');
      thrown(() => client.leave(place), 'INVALID_INPUT');
    }
    thrown(() => client.reserve('x'), 'INVALID_INPUT');
    thrown(() => client.reserve(CHIPID, { onTurn: 'now' as never }), 'INVALID_INPUT');
    thrown(() => client.reserve(CHIPID, { signal: 1 as never }), 'INVALID_INPUT');
    assert.deepEqual(texts(), []);
  });

  it('whose signal aborts while it waits says so, and sends nothing', async () => {
    const controller = new AbortController();
    let turns = 0;
    const before = client.push(CHIPID, 'before');
    const place = client.reserve(CHIPID, { signal: controller.signal, onTurn: () => turns++ });
    controller.abort('enough');
    assert.deepEqual([place.hasTurn, turns], [false, 1]);
    const { message } = await failure(client.push(CHIPID, 'x', { place }), 'UNREACHABLE');
    assert.match(message, /not sent: enough/);
    await before;
    await client.push(CHIPID, 'y');
    assert.deepEqual(texts(), ['before', 'y']);
    thrown(() => client.reserve(CHIPID, { signal: controller.signal }), 'UNREACHABLE');
  });

  it('of a client that is closed sends nothing', async () => {
    let turns = 0;
    const [first, second] = [
      client.reserve(CHIPID),
      client.reserve(CHIPID, { onTurn: () => turns++ }),
    ];
    await client.close();
    assert.equal(turns, 1);
    await failure(client.push(CHIPID, 'x', { place: first }), 'UNREACHABLE');
    await failure(client.push(CHIPID, 'x', { place: second }), 'UNREACHABLE');
    assert.deepEqual(texts(), []);
  });

  it('is not to be had in a full queue', () => {
    const places = Array.from({ length: 101 }, () => client.reserve(CHIPID));
    thrown(() => client.reserve(CHIPID), 'QUEUE_FULL');
    client.leave(places[50]!);
    client.reserve(CHIPID);
  });

  it('shows how many commands are before it', async () => {
    const seen: unknown[] = [];
    const first = client.reserve(CHIPID);
    client.reserve(CHIPID, { onProgress: (progress) => seen.push(progress) });
    assert.deepEqual(seen, [{ state: 'waiting', ahead: 1 }]);
    client.leave(first);
    assert.equal(seen.length, 1);
  });
});
