import assert from 'node:assert/strict';
import { DeviceCloudError } from '../../../src/errors';
import { MAX_DEVICES, type DeviceSnapshot } from '../../../src/fleet/devices';
import { sortList } from '../../../src/fleet/list-poller';
import { FleetRegistry } from '../../../src/fleet/registry';
import type { DeviceRecord, Upload } from '../../../src/types';

const START = Date.UTC(2026, 0, 2);

/** A registry, its clock, and ways to report events to it. */
function createSubject() {
  let now = START;
  const registry = new FleetRegistry(() => now, now * 1024);
  const upload = (chipid: string, body = 'x', more: Partial<Upload> = {}): Upload => ({
    ...{ chipid, appid: '1', timestamp: now, body: Buffer.from(body) },
    ...more,
  });
  return {
    registry,
    now: () => now,
    pass: (ms: number) => (now += ms),
    device: (chipid: string): DeviceSnapshot => registry.device(chipid)!,
    live: (chipid: string, body?: string) => registry.onLive(upload(chipid, body)),
    replay: (chipid: string, more: Partial<Upload>, body = 'replay') =>
      registry.onEmitted({ ...upload(chipid, body), replayed: true, ...more }),
    body: (chipid: string) => registry.get(chipid)?.latest?.toLatest(chipid, now).body.toString(),
    /** @param began when the request began, default now */
    list(chipids: readonly string[], { began = now, name = null as unknown } = {}) {
      const records = chipids.map((chipid) => ({ chipid, name }) as DeviceRecord);
      registry.applyList({ at: began, ...sortList(records) });
    },
  };
}

describe('the registry of devices', () => {
  it('knows which devices are listed, since when, and their names', () => {
    const { list, device, pass } = createSubject();
    list(['1', '2'], { name: 'gate' });
    pass(1000);
    list(['1'], { name: 7 });
    const { name, online, listed, since } = device('1');
    assert.deepEqual([name, online, listed, since], ['7', true, true, START]);
    const gone = device('2');
    assert.deepEqual([gone.name, gone.online, gone.listed], ['gate', false, false]);
    assert.equal(gone.since, START + 1000);
  });

  it('takes an answered call for a sign of life, but leaves that of a refresh to what it says', async () => {
    const { registry, device, pass } = createSubject();
    registry.onCalled('1', false);
    pass(10);
    await registry.onCommand('1', { kind: 'refresh' }, Promise.resolve());
    assert.deepEqual([device('1').online, device('1').since], [false, START]);
    await registry.onCommand('1', { kind: 'push' }, Promise.resolve());
    assert.deepEqual([device('1').online, device('1').since], [true, START + 10]);
  });

  it('believes the answer to a refresh until a list that was asked for later, or an upload', () => {
    const { registry, list, live, device, pass, now } = createSubject();
    const shown = () => {
      const one = device('1');
      return [one.online, one.since];
    };
    registry.onCalled('1', false);
    assert.deepEqual(shown(), [false, START], 'before any list');
    pass(10);
    list(['1']);
    assert.deepEqual(shown(), [true, START + 10]);
    pass(10);
    const { revision } = registry;
    registry.onCalled('1', false);
    assert.deepEqual(shown(), [false, START + 20]);
    assert.equal([...registry.changesSince(revision).devices].length, 1);
    list(['1'], { began: now() - 1 });
    assert.deepEqual(shown(), [false, START + 20], 'the list was asked for before');
    pass(10);
    live('1');
    assert.equal(device('1').online, true);
    registry.onCalled('1', false);
    pass(10);
    const before = registry.revision;
    list(['1']);
    assert.deepEqual(shown(), [true, START + 40]);
    assert.equal([...registry.changesSince(before).devices].length, 1, 'a display learns of it');
    registry.onCalled('2', true);
    assert.equal(device('2').online, true);
    pass(1);
    list([]);
    assert.equal(device('2').online, false);
  });

  it('counts a call without an answer as a sign that a device is offline, until it shows itself', async () => {
    const { registry, list, live, device, pass, now } = createSubject();
    list(['1']);
    pass(10);
    registry.onCalled('1', false);
    assert.deepEqual([device('1').online, device('1').since], [false, START + 10]);
    list(['1'], { began: now() });
    assert.equal(device('1').online, false, 'the list was asked for before its answer was missed');
    live('1');
    assert.equal(device('1').online, true);
    registry.onCalled('1', false);
    pass(10);
    await registry.onCommand('1', { kind: 'channel' }, Promise.resolve());
    assert.equal(device('1').online, false, 'nothing answers a push over the channel');
    await registry.onCommand('1', { kind: 'reboot' }, Promise.resolve());
    assert.equal(device('1').online, true, 'it has answered');
    registry.onCalled('2', false);
    live('2');
    assert.equal(device('2').online, true);
    registry.onCalled('1', null);
    assert.equal(device('1').online, null, 'nothing of the service has arrived');
    pass(10);
    list(['1']);
    assert.equal(device('1').online, true);
  });

  it('treats a device that uploads as online until a later list lacks it', () => {
    const { list, live, device, pass } = createSubject();
    live('1');
    assert.equal(device('1').online, null, 'no list has been read');
    pass(1000);
    list([]);
    assert.equal(device('1').online, false);
    pass(1000);
    live('1');
    assert.equal(device('1').online, true);
    pass(1000);
    list([]);
    assert.equal(device('1').online, false);
  });

  for (const step of [2, -2].map((years) => years * 365 * 86_400_000))
    it(`knows who is online, and what is the latest, once the clock has stepped by ${step} ms, and back`, () => {
      const { registry, list, live, replay, device, pass, body, now } = createSubject();
      const online = (chipid: string) => device(chipid).online;
      list(['2']);
      live('1', 'first');
      for (const by of [step, -step]) {
        pass(by);
        live('1', `after ${by}`);
        assert.equal(online('1'), true, 'an upload since the list');
        assert.equal(body('1'), `after ${by}`);
        assert.equal(registry.get('1')?.latest?.toLatest('1', now() - 1000).age, 0);
        replay('1', { timestamp: now() - 60_000 });
        assert.equal(body('1'), `after ${by}`, 'what is replayed is older');
        pass(1000);
        const { revision } = registry;
        list(['2']);
        assert.deepEqual([online('1'), online('2')], [false, true], 'a list since the upload');
        assert.ok((registry.get('1')?.revision ?? 0) > revision, 'which is a change of the device');
      }
    });

  it('ignores a list that was requested before the latest one, unless the clock was set back', () => {
    const { list, device, pass, now } = createSubject();
    const earlier = now();
    pass(1000);
    list(['1']);
    list([], { began: earlier });
    assert.equal(device('1').listed, true);
    pass(-3_600_000);
    list([]);
    assert.equal(device('1').listed, false);
  });

  it('follows a channel: its state, its reason, and how often it came back', () => {
    const { registry, device } = createSubject();
    const look = () => {
      const { channelState, channelReason, reconnects } = registry.get('1')!;
      return [channelState, channelReason, reconnects];
    };
    registry.onState('1', 'connecting', undefined);
    registry.onState('1', 'connected', undefined);
    registry.onState('1', 'disconnected', '1006');
    assert.deepEqual(look(), ['disconnected', '1006', 0]);
    registry.onState('1', 'connected', undefined);
    assert.deepEqual(look(), ['connected', undefined, 1]);
    registry.onClosed('1');
    assert.deepEqual(look(), [null, undefined, 1]);
    registry.onState('1', 'connected', undefined);
    assert.equal(device('1').reconnects, 1, 'another channel');
  });

  it('counts commands, and keeps the last error', () => {
    const { registry, device } = createSubject();
    registry.onQueue('1', 2, 1);
    registry.onError('1', new DeviceCloudError('TIMEOUT', 'no answer'));
    const { waiting, running, lastError } = device('1');
    assert.deepEqual([waiting, running], [2, 1]);
    assert.deepEqual(lastError, { code: 'TIMEOUT', message: 'TIMEOUT: no answer', at: START });
    registry.onError('1', 'odd');
    assert.equal(device('1').lastError?.code, 'ERROR');
  });

  it('counts each missed upload once for two listeners of a device', () => {
    const { registry, device } = createSubject();
    const calls: string[] = [];
    registry.addWatcher({
      onRecovering: ({ chipid }) => void calls.push(`${chipid} recovering`),
      onRecovered: ({ chipid }, count) => void calls.push(`${chipid} recovered ${count}`),
    });
    registry.onRecovering('1');
    registry.onRecovering('1');
    registry.onRecovered('1', 3, 1);
    assert.deepEqual(calls, ['1 recovering']);
    registry.onRecovered('1', 2, 2);
    assert.deepEqual(calls, ['1 recovering', '1 recovered 3']);
    registry.onRecovering('1');
    registry.onRecovered('1', 1, 0);
    assert.equal(device('1').recovered, 4);
    const { replayed, altered } = registry.uploads;
    assert.deepEqual([replayed, altered], [4, 2]);
  });

  it('calls its watchers after each update, and not once they are removed', () => {
    const { registry, live } = createSubject();
    const calls: unknown[] = [];
    const remove = registry.addWatcher({
      onLive: ({ chipid, lastUpload }) => void calls.push([chipid, lastUpload]),
      onState: ({ chipid, channelState }) => void calls.push([chipid, channelState]),
    });
    live('1');
    registry.onState('2', 'connected', undefined);
    registry.onClosed('2');
    remove();
    live('1');
    assert.deepEqual(calls, [
      ['1', START],
      ['2', 'connected'],
      ['2', null],
    ]);
  });
});

describe('the latest upload of a device', () => {
  it('is not affected by later changes to the bytes on either side', () => {
    const { registry, body } = createSubject();
    const bytes = Buffer.from([0, 0xff, 0x80, 0x41]);
    registry.onLive({ chipid: '1', appid: '1', timestamp: START, body: bytes });
    bytes.fill(0);
    const kept = (): Buffer => registry.get('1')!.latest!.toLatest('1', START).body;
    kept().fill(1);
    assert.deepEqual(kept(), Buffer.from([0, 0xff, 0x80, 0x41]));
    assert.equal(body('2'), undefined);
  });

  it('is cut at 16 KiB', () => {
    const { registry, live } = createSubject();
    const latest = () => registry.get('1')!.latest!.toLatest('1', START);
    live('1', 'x'.repeat(16 * 1024));
    assert.deepEqual([latest().body.length, latest().truncated], [16 * 1024, false]);
    live('1', 'x'.repeat(16 * 1024 + 1));
    assert.deepEqual([latest().body.length, latest().truncated], [16 * 1024, true]);
  });

  it('is not replaced by an older one that is replayed', () => {
    const { live, replay, body, pass, now } = createSubject();
    replay('1', { timestamp: START - 5000 }, 'older');
    assert.equal(body('1'), 'older');
    replay('1', { timestamp: START - 3000 }, 'newer');
    replay('1', { timestamp: START - 4000 }, 'between');
    assert.equal(body('1'), 'newer');
    live('1', 'live');
    replay('1', { timestamp: now() - 2000 });
    assert.equal(body('1'), 'live');
    pass(5000);
    replay('1', { timestamp: now() - 2000 });
    assert.equal(body('1'), 'replay');
  });

  it('is the one after the gap if two have the same second', () => {
    const { registry, live, replay, body } = createSubject();
    registry.onState('1', 'connected', undefined);
    live('1', 'before');
    registry.onState('1', 'disconnected', '1006');
    registry.onState('1', 'connected', undefined);
    replay('1', { timestamp: START, id: 1 }, 'missed 1');
    replay('1', { timestamp: START, id: 2 }, 'missed 2');
    assert.equal(body('1'), 'missed 2');
    live('1', 'after');
    replay('1', { timestamp: START, id: 3 }, 'missed 3');
    assert.equal(body('1'), 'after');
  });

  it('is not replaced by one from the future, whose time zone is set wrong', () => {
    const { registry, live, replay, body } = createSubject();
    registry.onState('1', 'connected', undefined);
    live('1', 'live');
    replay('1', { timestamp: START + 8 * 3_600_000 });
    assert.equal(body('1'), 'live');
  });
});

describe('the registry, at its limits', () => {
  it('forgets the devices seen longest ago, and those in use last', () => {
    const { registry, live } = createSubject();
    registry.onState('in use', 'connected', undefined);
    for (let number = 1; number < MAX_DEVICES; number++) live(String(number));
    live('1');
    assert.equal(registry.count().devices, MAX_DEVICES);
    live('new');
    assert.ok(registry.count().devices <= MAX_DEVICES);
    assert.ok(registry.get('in use'));
    assert.ok(registry.get('1'));
    assert.ok(registry.get('new'));
    assert.equal(registry.get('2'), undefined);
  });

  it('keeps the same devices with a longer list', () => {
    const { registry, list } = createSubject();
    const chipids = Array.from({ length: MAX_DEVICES + 5000 }, (_, number) => String(number));
    list(chipids);
    assert.equal(registry.count().devices, MAX_DEVICES);
    const { revision } = registry;
    list(chipids);
    assert.equal(registry.revision, revision);
  });

  it('lists what has changed since a revision, and what was forgotten', () => {
    const { registry, live } = createSubject();
    live('1');
    live('2');
    const { revision } = registry.changesSince(0);
    assert.deepEqual([...registry.changesSince(revision).devices], []);
    live('2');
    const changes = registry.changesSince(revision);
    assert.deepEqual(
      [[...changes.devices].map(({ chipid }) => chipid), changes.complete],
      [['2'], false],
    );
    for (let number = 3; number < MAX_DEVICES + 2; number++) live(String(number));
    const { removed } = registry.changesSince(revision);
    assert.equal(removed.length, 500);
    assert.ok(removed.includes('1'));
    live('1');
    assert.ok(!registry.changesSince(revision).removed.includes('1'));
  });

  it('returns all devices for an unknown revision', () => {
    const earlier = createSubject();
    earlier.live('1');
    const { revision } = earlier.registry;
    const { registry, live } = createSubject();
    live('1');
    for (const unknown of [0, -1, NaN, START * 1024 - 1, revision + 1000]) {
      const changes = registry.changesSince(unknown);
      assert.deepEqual([changes.complete, [...changes.devices].length], [true, 1]);
    }
  });

  it('returns all devices once more have been forgotten than it remembers', () => {
    const { registry, live } = createSubject();
    live('1');
    const { revision } = registry;
    for (let number = 0; number < 3.5 * MAX_DEVICES; number++) live(String(number));
    assert.equal(registry.changesSince(revision).complete, true);
    const recent = registry.revision;
    live('x');
    assert.equal(registry.changesSince(recent).complete, false);
  });
});
