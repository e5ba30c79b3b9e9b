import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Calls, GONE, NotSent, type CallsOptions, type Handler } from '../../../src/cluster/calls';
import { EngineError } from '../../../src/cluster/engine-error';
import { DeviceCloudError } from '../../../src/errors';
import { until } from '../../tooling/until';

type Changes = Partial<CallsOptions>;

/** Milliseconds that a call may take which is to succeed: no verdict depends on them. */
const LONG = 60_000;

/** Members whose messages go through memory. What is between them can be changed. */
class Bus {
  readonly members = new Map<string, Calls>();
  /** Who has the devices. */
  owner = 'b';
  time = 1e12;
  readonly orphans: unknown[] = [];
  readonly handled: string[] = [];
  onPublish: (to: string, text: string) => number | undefined = () => undefined;

  add(member: string, handle: Handler, changes: Changes = {}): Calls {
    const calls = new Calls({
      ...{ member, handle },
      publish: async (to, text) => {
        const changed = this.onPublish(to, text);
        if (changed !== undefined) return changed;
        const receiver = this.members.get(to);
        if (!receiver) return 0;
        setImmediate(() => receiver.receive(text));
        return 1;
      },
      ownerOf: () => this.owner,
      check: () => {
        if (this.owner !== member) throw new NotSent(GONE);
      },
      members: () => [...this.members.keys()],
      obstacle: () => undefined,
      time: () => this.time + performance.now(),
      onOrphan: (...orphan) => this.orphans.push(orphan),
      ...changes,
    });
    this.members.set(member, calls);
    return calls;
  }

  /** Carries out a call at once, and notes it. */
  readonly does: Handler = async (name, chipid, args) => {
    this.handled.push(`${name} ${chipid}`);
    return args;
  };
}

const failsWith = (code: string, text: RegExp, uncertain: boolean) => (error: unknown) => {
  assert.ok(error instanceof DeviceCloudError, String(error));
  assert.equal(error.code, code);
  assert.equal(error.uncertain, uncertain);
  assert.match(error.message, text);
  return true;
};

describe('a call to the process that has the device', () => {
  let bus: Bus;
  let caller: Calls;
  beforeEach(() => {
    bus = new Bus();
    caller = bus.add('a', bus.does);
  });
  afterEach(() => {
    for (const calls of bus.members.values()) calls.close();
  });

  it('comes back with its result, Buffers and dates included, or with its error', async () => {
    const args = {
      bytes: Buffer.from([0, 255]),
      at: new Date(5),
      text: 'ü',
      list: [Buffer.from('x')],
    };
    bus.add('b', bus.does);
    assert.deepEqual(await caller.call('echo', '1', args, LONG, 0), args);
    assert.deepEqual(bus.handled, ['echo 1']);
    bus.add('b', async () => undefined);
    assert.equal(await caller.call('nothing', '1', {}, LONG, 0), null);
    bus.add('b', () => Promise.reject(new DeviceCloudError('GATEWAY', 'no device.', 502)));
    await assert.rejects(caller.call('push', '1', {}, LONG, 0), (error: DeviceCloudError) => {
      assert.deepEqual([error.code, error.statusCode, error.uncertain], ['GATEWAY', 502, true]);
      return failsWith('GATEWAY', /^GATEWAY: no device\.$/, true)(error);
    });
  });

  it('is made here if the device is this process’s, with no message', async () => {
    bus.owner = 'a';
    bus.onPublish = () => assert.fail('a message');
    const args = { at: new Date() };
    assert.equal(await caller.call('echo', '1', args, LONG, 0), args);
  });

  const unreachable = failsWith('UNREACHABLE', /Nothing was sent\.$/, false);
  const throws = (error: EngineError) => (at: Bus) => {
    at.onPublish = () => {
      throw error;
    };
  };
  const unsent: readonly [string, (bus: Bus) => void][] = [
    ['nobody has received it', () => undefined],
    ['nobody has the device', (at) => (at.owner = undefined as unknown as string)],
    ['there is no connection', throws(new EngineError('away.', { isUnsent: true }))],
    ['the engine refuses it', throws(new EngineError('NOPERM', { isRefusal: true }))],
    [
      'the owner may not act any more when the device’s turn comes',
      (at) =>
        at.add('b', () => {
          at.owner = 'c';
          return Promise.reject(new NotSent(GONE));
        }),
    ],
  ];
  for (const [what, arrange] of unsent)
    it(`was certainly not sent if ${what}`, async () => {
      arrange(bus);
      await assert.rejects(caller.call('push', '1', {}, 500, 0), unreachable);
      assert.deepEqual(bus.handled, []);
    });

  it('was certainly not sent if the engine cannot be reached', async () => {
    bus.add('b', bus.does);
    const offline = bus.add('a', bus.does, { obstacle: () => 'The engine is away.' });
    await assert.rejects(
      offline.call('push', '1', {}, 500, 0),
      failsWith('UNREACHABLE', /^UNREACHABLE: The engine is away\. Nothing was sent\.$/, false),
    );
    assert.deepEqual(bus.handled, []);
  });

  it('that is made at once waits for no earlier one to its device', async () => {
    bus.add('b', async (name) => (name === 'push' ? new Promise(() => undefined) : 'known'));
    void caller.call('push', '1', {}, 10_000, 0).catch(() => undefined);
    assert.equal(await caller.callAtOnce('acknowledge', '1', {}, 1000, 0), 'known');
  });

  it('that comes after its end is not carried out', async () => {
    bus.add('b', bus.does);
    bus.onPublish = (to) => {
      // It is held up on its way.
      if (to === 'b') bus.time += LONG;
      return undefined;
    };
    await assert.rejects(caller.call('push', '1', {}, 1000, 0), unreachable);
    assert.deepEqual(bus.handled, []);
  });

  for (const [what, arrange] of [
    ['no answer comes', (at: Bus) => at.add('b', () => new Promise(() => undefined))],
    ['the connection broke as it was sent', throws(new EngineError('closed.', {}))],
  ] as const)
    it(`may have been carried out if ${what}`, async () => {
      arrange(bus);
      await assert.rejects(
        caller.call('push', '1', {}, 500, 5000),
        failsWith('TIMEOUT', /no answer/, true),
      );
    });

  it('is tried again while it was not sent, at the next owner, and acts once', async () => {
    const call = caller.call('push', '1', 'x', LONG, 5000);
    await sleep(150);
    bus.add('c', bus.does);
    bus.owner = 'c';
    assert.equal(await call, 'x');
    assert.deepEqual(bus.handled, ['push 1']);
  });

  it('shows how many are before it, and is not sent if its caller has gone by its turn', async () => {
    const releases: (() => void)[] = [];
    bus.add('b', (name) => {
      bus.handled.push(name);
      return new Promise((resolve) => releases.push(() => resolve(name)));
    });
    const shown: unknown[] = [];
    const gone = new AbortController();
    const [first, second] = ['first', 'second'].map((name) => caller.call(name, '1', {}, LONG, 0));
    const extras = { caller: { progress: shown.push.bind(shown), signal: gone.signal } };
    const last = caller.call('last', '1', {}, LONG, 0, extras);
    await until(() => releases.length === 1, 'the first is carried out');
    releases[0]?.();
    await first;
    gone.abort();
    await assert.rejects(last, failsWith('UNREACHABLE', /Not sent: /, false));
    await until(() => releases.length === 2, 'the second is carried out');
    releases[1]?.();
    await second;
    assert.deepEqual(bus.handled, ['first', 'second']);
    assert.deepEqual(shown, [
      { state: 'waiting', ahead: 2 },
      { state: 'waiting', ahead: 1 },
    ]);
  });

  it('holds back the later ones to its device until it has ended, and no others', async () => {
    let release = (): void => undefined;
    const begun: string[] = [];
    bus.add('b', async (name) => {
      begun.push(name);
      if (name === 'first') await new Promise<void>((resolve) => (release = resolve));
    });
    const calls = ['first', 'last'].map((name) => caller.call(name, '1', {}, LONG, 0));
    await caller.call('free', '2', {}, LONG, 0);
    assert.deepEqual(begun, ['first', 'free']);
    release();
    await Promise.all(calls);
    assert.deepEqual(begun, ['first', 'free', 'last']);
  });

  it('is refused if it is larger than 1 MiB, and its answer if it is larger than 16', async () => {
    bus.add('b', async () => 'x'.repeat(2 ** 24));
    await assert.rejects(
      caller.call('push', '1', 'x'.repeat(2 ** 20), LONG, 0),
      failsWith('INVALID_INPUT', /1 MiB/, false),
    );
    await assert.rejects(
      caller.call('push', '1', {}, LONG, 0),
      failsWith('INVALID_RESPONSE', /16 MiB/, true),
    );
  });

  it('whose caller is gone leaves its result to the owner; one that is silent gets it later', async () => {
    const begun: (() => void)[] = [];
    bus.add('b', () => new Promise((resolve) => begun.push(() => resolve('done'))));
    const call = caller.call('push', '1', 'args', LONG, 0);
    await until(() => begun.length === 1, 'it is carried out');
    let isSilent = true;
    bus.onPublish = (to) => (to === 'a' && isSilent ? 0 : undefined);
    begun[0]?.();
    await sleep(250);
    assert.deepEqual(bus.orphans, []);
    isSilent = false;
    assert.equal(await call, 'done');
    void caller.call('push', '1', 'args', LONG, 0, { kept: 'it' }).catch(() => undefined);
    await until(() => begun.length === 2, 'it is carried out');
    bus.members.delete('a');
    begun[1]?.();
    await until(() => bus.orphans.length === 1);
    assert.deepEqual(bus.orphans, [['1', 'it', { value: 'done' }]]);
    caller.close();
  });

  it('is not answered any more once the process that has made it has left', async () => {
    const answerer = bus.add('b', bus.does);
    let answers = 0;
    bus.onPublish = (to) => (to === 'a' ? ((answers += 1), 0) : undefined);
    const asked = caller.call('push', '1', {}, 500, 0);
    await until(() => answers > 0, 'its answer reaches nobody');
    answerer.close();
    await assert.rejects(asked, failsWith('TIMEOUT', /no answer/, true));
    const before = answers;
    await sleep(300);
    assert.equal(answers, before);
  });

  it('to all is answered by all but those that are silent', async () => {
    bus.add('b', async () => 'of b');
    bus.add('c', () => new Promise(() => undefined));
    const { answers, missing } = await caller.askAll('latest', 'of a');
    assert.deepEqual([answers, missing], [['of a', 'of b'], 1]);
  });

  it('that is malformed is left out', async () => {
    for (const text of ['', '{', '[]', '1', '{}', '{"answer":"unknown"}', '{"id":"x"}'])
      caller.receive(text);
    bus.owner = 'a';
    assert.equal(await caller.call('echo', '1', 5, LONG, 0), 5);
  });
});
