import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ClusterClient } from '../../../src/cluster-client';
import { SavedCalls, timeLeft } from '../../../src/commands/saved-call';
import { withOrigin } from '../../../src/commands/waiting-list';
import type { ServiceClock } from '../../../src/http/answer';
import { SharedStore } from '../../../src/store/shared';
import { isDeviceCloudError, type Position, type Upload } from '../../../src/index';
import type { WaitingUpload } from '../../../src/recovery/options';
import type { PinKeeper } from '../../../src/types';
import type { Simulator } from '../../../src/simulator';
import { keep, type Child } from '../../tooling/process';
import { atEnd } from '../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { describeOnRedis } from '../../support/redis';
import { keysOf, simulator } from '../support/client';

const LEASE = 1000;
const DEVICES = Array.from({ length: 12 }, (_, index) => String(10_000_001 + index));

/** A process that listens to all devices, and keeps how far it has emitted. */
interface Process {
  readonly store: SharedStore;
  readonly calls: SavedCalls;
  readonly client: ClusterClient;
  readonly uploads: Upload[];
  /** How often a channel has opened. */
  opened: number;
}

describeOnRedis('clients that share an application', () => {
  let redis: RedisProcess;
  let cloud: Simulator;
  beforeEach(async () => {
    redis = await startRedis();
    atEnd(() => redis.end());
    cloud = await simulator({ devices: DEVICES.length });
  });

  async function joins({
    listens = true,
    decoderOf = (() => undefined) as Parameters<typeof ClusterClient.join>[2]['decoderOf'],
    deviceGap = 0,
    keys = keysOf(),
  } = {}): Promise<Process> {
    const store = new SharedStore();
    const all = { baseUrl: cloud.baseUrl, ...keys, deviceGap };
    const options = { ...all, proxy: false as const, random: () => 0 };
    const settings = { url: redis.url, lease: LEASE };
    const calls = new SavedCalls(store);
    const waiting = { calls, callOf: () => assert.fail('handed over'), onOrphan: () => undefined };
    const client = await ClusterClient.join(options, settings, { store, decoderOf, waiting });
    atEnd(() => client.close());
    const started: Process = { store, calls, client, uploads: [], opened: 0 };
    for (const chipid of listens ? DEVICES : []) {
      const key = `position:listener:${chipid}`;
      client.listen(
        chipid,
        {
          onUpload: (upload) => started.uploads.push(upload),
          onState: (state) => (started.opened += Number(state === 'connected')),
        },
        {
          get start() {
            return store.get(key) as Position | undefined;
          },
          saveLater: (position) => store.update(key, position()),
        },
      );
    }
    return started;
  }

  /** Waits until each device has one channel, which belongs to its owner. */
  const isSettled = (processes: readonly Process[]): boolean =>
    DEVICES.every((chipid) => processes.filter(({ client }) => client.owns(chipid)).length === 1) &&
    processes.every(({ client }) =>
      DEVICES.every(
        (chipid) =>
          client.owns(chipid) === (client.fleet.device(chipid)?.channel?.state === 'connected'),
      ),
    );
  const settled = (...processes: Process[]): Promise<void> =>
    until(() => isSettled(processes), 'each device has one owner and one channel');
  const textsOf = (...processes: Process[]): string[] =>
    processes.flatMap(({ uploads }) => uploads.map(({ body }) => body.toString()));

  it('emit each upload once, and what comes while a device moves', async () => {
    const first = await joins();
    await settled(first);
    const hasPositions = (): boolean => first.store.list('position:').length === DEVICES.length;
    await until(hasPositions, 'it is known from where to recover');
    for (const chipid of DEVICES) cloud.upload(chipid, `first of ${chipid}`);
    await until(() => first.uploads.length === DEVICES.length, 'all came');
    const second = await joins();
    await until(() => second.client.owned > 0, 'it gets a part');
    let count = 0;
    const sending = setInterval(() => {
      for (const chipid of DEVICES) cloud.upload(chipid, `${chipid} ${count}`);
      count++;
    }, 50);
    atEnd(() => clearInterval(sending));
    await settled(first, second);
    await until(() => second.uploads.length > 0, 'it emits, too');
    // Both know an upload of a device that has moved.
    const { uploads: latest } = await first.client.latestAll();
    assert.deepEqual([...latest].map(({ chipid }) => chipid).sort(), DEVICES);
    await second.client.close();
    await settled(first);
    clearInterval(sending);
    const all = DEVICES.length * (count + 1);
    await until(() => textsOf(first, second).length >= all, 'nothing is lost');
    assert.deepEqual(new Set(textsOf(first, second)).size, all);
    assert.equal(textsOf(first, second).length, all);
  });

  it('leave the channel of a device open that stays where it is, whoever joins, leaves or fails', async () => {
    const handshakes = new Map<string, number>();
    const count = (): void => {
      handshakes.clear();
      for (const { status, query } of cloud.requests) {
        const chipid = new URLSearchParams(query).get('chipid') ?? '';
        if (status === 101) handshakes.set(chipid, (handshakes.get(chipid) ?? 0) + 1);
      }
    };
    const members: Process[] = [];
    const ownerOf = (chipid: string): Process | undefined =>
      members.find(({ client }) => client.owns(chipid));
    let stayed = 0;
    const step = async (change: () => Promise<unknown>): Promise<void> => {
      count();
      const before = DEVICES.map((chipid) => [ownerOf(chipid), handshakes.get(chipid)] as const);
      await change();
      await settled(...members);
      count();
      for (const [at, chipid] of DEVICES.entries()) {
        const [owner, opened] = before[at] ?? [];
        if (!owner || owner !== ownerOf(chipid)) continue;
        stayed++;
        assert.equal(handshakes.get(chipid), opened, `${chipid} stays`);
      }
    };
    const join = async (options?: Parameters<typeof joins>[0]): Promise<void> => {
      const joined = await joins(options);
      members.push(joined);
      const { client } = joined;
      await until(() => (options ? client.others > 0 : client.owned > 0), 'it has its part');
    };
    const leave = (at: number) => async (): Promise<void> =>
      members.splice(at, 1)[0]?.client.close();
    await step(() => join());
    await step(() => join());
    await step(() => join({ listens: false }));
    await step(() => join());
    await step(leave(0));
    await step(() => join());
    const engine = new Redis(redis.url);
    atEnd(() => engine.disconnect());
    await step(() => engine.flushall());
    await step(leave(2));
    await step(leave(1));
    await step(async () => {
      redis.stop();
      await until(() => members.every(({ client }) => client.state === 'awaiting'), 'it is away');
      redis.cont();
    });
    assert.ok(stayed > 3 * DEVICES.length, `${stayed} times`);
  });

  it('say what is different if they have other settings than the rest, and get no device meanwhile', async () => {
    const first = await joins();
    await settled(first);
    const other = await joins({ deviceGap: 100 });
    await until(() => other.client.state === 'refused', 'it is refused');
    assert.match(
      other.store.problem ?? '',
      /other settings, .*: deviceGap is 100 here and 0 there\. /,
    );
    await other.client.push(DEVICES[0]!, 'made by the owner');
    assert.deepEqual([other.client.owned, first.client.state], [0, 'joined']);
    await first.client.close();
    await settled(other);
    assert.deepEqual([other.client.state, other.store.problem], ['joined', undefined]);
  });

  it('send each command from the owner of its device, wherever it comes from', async () => {
    const [first, second] = [await joins(), await joins()];
    await settled(first, second);
    const third = await joins({ listens: false });
    await until(() => third.client.others === 2, 'it is a member');
    for (const chipid of DEVICES) {
      const sent = [first, second, third].map(({ client }, index) =>
        client.push(chipid, `push ${index}`),
      );
      assert.deepEqual(
        (await Promise.all(sent)).map(({ body }) => body.msg),
        ['OK', 'OK', 'OK'],
      );
      assert.equal(cloud.device(chipid).received.length, 3);
      assert.equal(cloud.device(chipid).maxInFlight, 1);
    }
    assert.equal(third.client.owned, 0);
    for (const { client } of [first, third]) {
      const push = (chipid: string, options: object) => client.push(chipid, 'each', options);
      const ends = await client.callEach(DEVICES, push, { atOnce: 1 });
      assert.ok(ends.every(({ status }) => status === 'fulfilled'));
    }
    // What is pushed is no option, whatever its fields are called.
    const message = { signal: 1, timeout: 'never', duration: 'long' };
    await third.client.push('10000001', message);
    assert.deepEqual(JSON.parse(cloud.device('10000001').received.at(-1)?.text ?? ''), message);
    await assert.rejects(
      third.client.push('10000001', 'later', { when: 'upload' }),
      (error: unknown) => isDeviceCloudError(error, 'INVALID_INPUT'),
    );
    const { body } = await third.client.setGpioEdge('10000001', 5, 'high');
    assert.equal(typeof body.result, 'string');
    cloud.upload('10000001', 'the latest');
    await until(() => textsOf(first, second).length === 1, 'it came');
    assert.equal((await third.client.latest('10000001'))?.body.toString(), 'the latest');
    const { uploads, missing } = await third.client.latestAll();
    assert.deepEqual([[...uploads].length, missing], [1, 0]);
  });

  it('send a command after one to many devices that came before it', async () => {
    const [first, second] = [await joins(), await joins()];
    await settled(first, second);
    const { client } = first;
    const push = (chipid: string, options: object) => {
      // So long that the others are called in later turns of the event loop.
      const end = performance.now() + 50;
      while (performance.now() < end);
      return client.push(chipid, 'first', options);
    };
    const each = client.callEach(DEVICES, push);
    const later = DEVICES.map((chipid) => client.push(chipid, 'second'));
    await Promise.all([each, ...later]);
    for (const chipid of DEVICES) {
      const received = cloud.device(chipid).received.map(({ text }) => text);
      assert.deepEqual(received, ['first', 'second'], chipid);
    }
  });

  it('leave the devices to those whose key the service accepts', async () => {
    const wrong = await joins({ keys: { ...keysOf(), appkey: 'wrong' } });
    await until(() => wrong.client.owned > 0, 'it is alone');
    const right = await joins();
    await settled(right);
    assert.equal(wrong.client.owned, 0);
    for (const chipid of DEVICES) cloud.upload(chipid, chipid);
    await until(() => right.uploads.length === DEVICES.length, 'all come');
  });

  it('leave waiting commands that were given back to whoever has their device then', async () => {
    const first = await joins();
    await settled(first);
    const pushed = new Map<string, Promise<unknown>[]>();
    const left = timeLeft(60_000, { time: () => Date.now() } as ServiceClock);
    for (const chipid of DEVICES) {
      const ends: Promise<unknown>[] = [];
      for (const text of ['one', 'two']) {
        const saved = first.calls.add('node', [chipid], () => text);
        await saved.save(chipid, left);
        const options = withOrigin({ when: 'upload', expires: 60_000 } as const, { saved });
        ends.push(
          assert.rejects(first.client.push(chipid, text, options), { code: 'UNREACHABLE' }),
        );
      }
      pushed.set(chipid, ends);
    }
    const second = await joins();
    await until(() => DEVICES.some((chipid) => second.client.owns(chipid)), 'it gets a part');
    await settled(first, second);
    const moved = DEVICES.filter((chipid) => second.client.owns(chipid));
    await Promise.all(moved.flatMap((chipid) => pushed.get(chipid) ?? []));
    assert.equal(second.store.list('command:').length, 2 * moved.length);
    assert.deepEqual(second.client.waiting.list(), []);
    await first.client.close();
    await Promise.all([...pushed.values()].flat());
  });

  it('decode the reply to a request by the type of the process that asks', async () => {
    const decode = Object.assign((body: Buffer) => ({ value: { at: body.readUInt8() } }), {
      typeId: 'a-type',
    });
    const decoderOf = (id: string) => (id === 'a-type' ? decode : undefined);
    const [first, second] = [await joins({ decoderOf }), await joins()];
    await settled(first, second);
    const ask = (from: Process, to: Process) => {
      const chipid = DEVICES.find((each) => to.client.owns(each)) ?? '';
      const match = { property: 'at', equals: 7 };
      const reply = from.client.request(chipid, 'at?', { match, decode });
      const isAsked = (): boolean => cloud.device(chipid).received.length > 0;
      void until(isAsked).then(() => cloud.upload(chipid, Buffer.of(7)));
      return reply;
    };
    assert.deepEqual((await ask(second, first)).payload, { at: 7 });
    await assert.rejects(
      second.client.request(DEVICES.find((each) => first.client.owns(each)) ?? '', 'at?', {
        match: 'next',
        decode: Object.assign(() => ({ value: 1 }), { typeId: 'other' }),
      }),
      (error: unknown) => isDeviceCloudError(error, 'NOT_CONFIGURED'),
    );
  });

  it('keep a pin wherever its device is, and report to the keeper where that is', async () => {
    const [first, second] = [await joins(), await joins()];
    await settled(first, second);
    const chipid = DEVICES.find((each) => second.client.owns(each)) ?? '';
    const reports: string[] = [];
    const keeper = (name: string): PinKeeper => ({
      id: 'a-node',
      onState: ({ state }) => reports.push(`${name} ${state}`),
    });
    await first.client.pins.restore(keeper('first'));
    await second.client.pins.restore(keeper('second'));
    const wish = await first.client.keepPin(chipid, 5, 'high', keeper('first'));
    assert.equal(wish.wanted, 1);
    await until(() => cloud.device(chipid).sets.length === 1, 'it is set');
    await until(() => reports.includes('second kept'), 'its owner reports it');
    await second.client.close();
    await until(() => first.client.owns(chipid), 'it has moved');
    await until(() => first.client.pins.list(chipid)[0]?.state === 'kept', 'it is kept on');
    assert.equal(cloud.device(chipid).sets.length, 1);
  });

  it('emit nothing and send nothing while the engine is away, and then what came meanwhile', async () => {
    const only = await joins();
    await settled(only);
    await until(() => only.store.list('position:').length === DEVICES.length);
    redis.stop();
    await until(() => only.client.state === 'awaiting', 'it may not act any more');
    await assert.rejects(
      only.client.push('10000001', 'on', { timeout: 1000 }),
      (error: unknown) => isDeviceCloudError(error, 'UNREACHABLE') && !error.uncertain,
    );
    assert.equal(cloud.device('10000001').received.length, 0);
    for (const chipid of DEVICES) cloud.upload(chipid, `${chipid} meanwhile`);
    const { opened } = only;
    await sleep(1000);
    assert.equal(only.uploads.length, 0);
    redis.cont();
    await until(() => only.client.state === 'joined', 'it may act again');
    for (const chipid of DEVICES) cloud.upload(chipid, `${chipid} later`);
    await until(() => only.uploads.length >= 2 * DEVICES.length, 'all is emitted');
    for (const chipid of DEVICES) {
      const own = only.uploads.filter((upload) => upload.chipid === chipid);
      assert.deepEqual(
        own.map(({ body }) => body.toString()),
        [`${chipid} meanwhile`, `${chipid} later`],
      );
    }
    assert.equal(only.opened, opened, 'each channel has stayed open');
    assert.equal((await only.client.push('10000001', 'on')).body.msg, 'OK');
    assert.equal(cloud.device('10000001').received.length, 1);
  });

  it('listen, once they may act, also to devices that somebody listens to while they may not', async () => {
    const only = await joins({ listens: false });
    const [chipid] = DEVICES as [string];
    await until(() => only.client.owns(chipid), 'it has the device');
    // It is busy.
    while (only.client.state === 'joined');
    const heard: string[] = [];
    only.client.listen(chipid, { onUpload: ({ body }) => heard.push(body.toString()) });
    await until(() => cloud.channels(chipid) === 1, 'its channel is open');
    await until(() => {
      cloud.upload(chipid, 'an upload');
      return heard.length > 0;
    }, 'it hears the device');
  });

  it('emit nothing again that waits for its acknowledgement while the engine is away', async () => {
    const only = await joins({ listens: false });
    const [chipid] = DEVICES as [string];
    const emitted: WaitingUpload[] = [];
    const waiting = only.client.acknowledged.listen(
      chipid,
      { onUpload: (upload) => emitted.push(upload as WaitingUpload) },
      { node: 'acked', redeliver: 200, attempts: 1000 },
    );
    atEnd(() => waiting.release());
    const isRead = (): boolean => only.store.get(`position:acked:${chipid}`) !== undefined;
    await until(isRead, 'it is known from where to recover');
    cloud.upload(chipid, 'upload');
    await until(() => emitted.length > 1, 'it is emitted again');
    redis.stop();
    await until(() => only.client.state === 'awaiting', 'it may not act any more');
    const before = emitted.length;
    await sleep(1000);
    assert.equal(emitted.length, before);
    redis.cont();
    await until(() => emitted.length > before, 'it is emitted again');
    assert.equal(emitted.at(-1)?.redelivered, true);
    assert.equal(await only.client.acknowledged.acknowledge(emitted.at(-1)?.ack), true);
  });

  /** One that can be killed. */
  async function starts(): Promise<Child> {
    const { appid, appkey } = keysOf();
    const args = [cloud.baseUrl, redis.url, String(LEASE), appid, appkey, ...DEVICES];
    const child = keep(
      'client',
      fork(join(__dirname, 'client-process.js'), args, { silent: true }),
    );
    atEnd(() => child.process.kill('SIGKILL'));
    await child.logged(/^ready$/m);
    return child;
  }
  const uploadsOf = (child: Child): { chipid: string; isReplayed: boolean; text: string }[] =>
    [...child.log().matchAll(/^upload (\d+) (true|false) (.*)$/gm)].map(
      ([, chipid = '', replayed, text = '']) => ({ chipid, isReplayed: replayed === 'true', text }),
    );

  it('lose nothing when one is killed or stopped, and send no command twice', async function () {
    // Several takeovers: on a busy machine they take long.
    this.timeout(180_000);
    const children = [await starts(), await starts(), await starts()];
    const [killed, stopped, other] = children as [Child, Child, Child];
    const hasEach = (of: readonly Child[], texts: () => string[]): Promise<void> =>
      until(() => {
        const found = new Set(of.flatMap((child) => uploadsOf(child).map(({ text }) => text)));
        return texts().every((text) => found.has(text));
      }, 'each upload is emitted');
    const sent: string[] = [];
    const send = (): void => {
      for (const chipid of DEVICES) {
        const text = `${chipid}-${sent.length}`;
        sent.push(text);
        cloud.upload(chipid, text);
      }
    };
    await until(
      () =>
        DEVICES.every((chipid) =>
          children.some((child) => child.log().includes(`begins ${chipid}\n`)),
        ),
      'it is known from where to recover',
    );
    await until(
      () => children.every((child) => child.log().includes(' connected\n')),
      'all have a part',
    );
    send();
    await hasEach(children, () => sent);
    let pushes = 0;
    const sending = setInterval(() => {
      send();
      for (const child of [other, stopped])
        child.process.stdin?.write(`${DEVICES[pushes % DEVICES.length]} push-${pushes++}\n`);
    }, 50);
    atEnd(() => clearInterval(sending));
    // By then the positions are written, too.
    await until(() => sent.length > 60 * DEVICES.length);
    await killed.end('SIGKILL');
    await until(() => sent.length > 120 * DEVICES.length);
    stopped.process.kill('SIGSTOP');
    const from = stopped.log().length;
    await until(() => sent.length > 180 * DEVICES.length);
    stopped.process.kill('SIGCONT');
    await stopped.logged(/^state \d+ connected$/m, from);
    clearInterval(sending);
    await hasEach(children, () => sent);
    const ends = (): string[] =>
      [other, stopped].flatMap((child) => [...child.log().matchAll(/^pushed .*$/gm)].map(String));
    await until(() => ends().length === pushes, 'each push has ended');
    const received = DEVICES.flatMap((chipid) =>
      cloud.device(chipid).received.map(({ text }) => text),
    );
    assert.equal(new Set(received).size, received.length, 'none is sent twice');
    for (const end of ends()) {
      const [, text = '', code, isUncertain] = end.split(' ');
      if (code === 'OK') assert.ok(received.includes(text), end);
      else if (isUncertain === 'false') assert.ok(!received.includes(text), end);
    }
    for (const child of children)
      for (const chipid of DEVICES) {
        const places = new Set<number>();
        for (const { isReplayed, text, ...upload } of uploadsOf(child)) {
          if (upload.chipid !== chipid) continue;
          const place = sent.indexOf(text);
          // On a busy machine it may lose a device and get it back, and begins where its position was written.
          assert.ok(isReplayed || !places.has(place), `marked, if it comes again: ${text}`);
          places.add(place);
        }
        const inOrder = [...places].sort((a, b) => a - b);
        assert.deepEqual([...places], inOrder, `in order: ${chipid}`);
      }
    assert.ok(DEVICES.every((chipid) => cloud.device(chipid).maxInFlight <= 1));
  });
});
