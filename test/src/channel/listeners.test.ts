import assert from 'node:assert/strict';
import type { Upload } from '../../../src/types';
import { IsolatedListener, type ChannelListener } from '../../../src/channel/listener';
import { channelService } from '../../tooling/servers/channel-service';
import { atEnd } from '../../tooling/servers/at-end';
import { clientOf, simulated } from '../support/client';
import { failure } from '../support/failure';
import { CHIPID, listen } from '../support/listener';
import { settled, until } from '../../tooling/until';

/** Records what would end the process, and its warnings. */
function watchProcess() {
  const escaped: unknown[] = [];
  const warnings: Error[] = [];
  const note = (error: unknown): void => void escaped.push(error);
  const warn = (warning: Error): void => void warnings.push(warning);
  // In place of Mocha's own, which would fail another test than this one.
  const before = (['uncaughtException', 'unhandledRejection'] as const).map((event) => {
    const listeners = process.listeners(event as 'uncaughtException');
    process.removeAllListeners(event);
    process.on(event, note);
    return () => {
      process.removeListener(event, note);
      for (const listener of listeners) process.on(event, listener);
    };
  });
  process.on('warning', warn);
  atEnd(() => {
    process.removeListener('warning', warn);
    for (const restore of before) restore();
  });
  return { escaped, warnings };
}

/** A value that throws whatever is done with it. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const deep = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};

describe('a listener that throws', () => {
  const throwing: [what: string, callback: () => unknown][] = [
    ['throws an error', deep],
    ['rejects', async () => Promise.reject(new RangeError('Maximum call stack size exceeded'))],
  ];
  for (const [what, callback] of throwing) {
    it(`receives the error as a fault when it ${what}; all listeners receive further uploads`, async () => {
      const { escaped } = watchProcess();
      const { service, client } = await simulated();
      const uploads: string[] = [];
      const faults: string[] = [];
      client.listen(CHIPID, {
        onUpload({ body }) {
          uploads.push(body.toString());
          return callback();
        },
        onFault: (fault) => faults.push(fault),
      });
      const other = listen(client);
      await other.state('connected');
      for (const text of ['a', 'b']) service.upload(CHIPID, text);
      await until(() => other.uploads.length === 2 && faults.length === 2);
      assert.deepEqual([uploads, other.texts(), other.faults], [['a', 'b'], ['a', 'b'], []]);
      const said = "The listener's onUpload threw: RangeError: Maximum call stack size exceeded.";
      assert.deepEqual(faults, [said, said]);
      assert.deepEqual([escaped, service.channels()], [[], 1]);
    });
  }

  const rejected = (): Promise<never> => Promise.reject(new RangeError('no'));
  const failing = { get: deep, configurable: true };
  const odd: [what: string, result: () => unknown][] = [
    ['a promise whose catch throws', () => Object.assign(rejected(), { catch: deep })],
    ['a thenable whose then cannot be read', () => Object.defineProperty({}, 'then', failing)],
    [
      'a thenable that rejects',
      () => ({
        then: (_: unknown, reject: (why: unknown) => void) => reject(new RangeError('no')),
      }),
    ],
    ['a revoked proxy', revoked],
  ];
  for (const [what, result] of odd) {
    it(`receives a fault when it returns ${what}`, async () => {
      const { escaped } = watchProcess();
      const faults: string[] = [];
      const listener = new IsolatedListener({
        onUpload: result,
        onFault: (fault) => void faults.push(fault),
      });
      listener.onUpload({ chipid: CHIPID } as unknown as Upload);
      await settled();
      assert.deepEqual(escaped, []);
      assert.equal(faults.length, 1);
      assert.match(faults[0] ?? '', /^The listener's onUpload threw: (Range|Type)Error: /);
    });
  }

  it('in onState does not affect the states of the channel', async () => {
    const { escaped } = watchProcess();
    const { service, client } = await simulated();
    const faults: string[] = [];
    for (const [, onState] of throwing)
      client.listen(CHIPID, { onState, onFault: (fault) => faults.push(fault) });
    const other = listen(client);
    await other.state('connected');
    service.disconnect(CHIPID);
    await other.state('connected', 2);
    assert.deepEqual(
      other.changes.map(({ state }) => state),
      ['connected', 'disconnected', 'connecting', 'connected'],
    );
    await settled();
    assert.equal(faults.length, 8);
    for (const fault of faults) assert.match(fault, /onState threw: RangeError/);
    assert.deepEqual(escaped, []);
  });

  it('in onFault as well causes no further call', async () => {
    const { escaped, warnings } = watchProcess();
    const { service, client } = await simulated();
    client.listen(CHIPID, { onUpload: deep, onFault: deep });
    client.listen(CHIPID, { onFault: (): unknown => Promise.reject(new Error('no')) });
    const other = listen(client);
    await other.state('connected');
    service.fail('bad-json', { times: 1 });
    service.upload(CHIPID, 'spoilt');
    service.upload(CHIPID, 'a');
    await until(() => other.uploads.length === 1);
    assert.equal(other.faults.length, 1);
    await settled();
    assert.deepEqual([escaped, warnings], [[], []]);
  });

  it('without onFault causes one warning, not one for each upload', async () => {
    const { escaped, warnings } = watchProcess();
    const { service, client } = await simulated();
    const symbol: unknown = Object.create(null);
    client.listen(CHIPID, {
      onUpload() {
        throw symbol;
      },
    });
    const other = listen(client);
    await other.state('connected');
    for (const text of ['a', 'b', 'c']) service.upload(CHIPID, text);
    await until(() => other.uploads.length === 3 && warnings.length > 0);
    await settled();
    assert.deepEqual(
      warnings.map(({ name }) => name),
      ['DeviceCloudWarning'],
    );
    assert.match(warnings[0]!.message, /onUpload threw: a value without a text\./);
    assert.deepEqual(escaped, []);
  });

  for (const listener of [null, () => undefined]) {
    it(`is refused before anything is opened if it is ${String(listener)}`, async () => {
      const { service, client } = await simulated();
      const listening = new Promise((resolve) => {
        resolve(client.listen(CHIPID, listener as unknown as ChannelListener));
      });
      assert.match((await failure(listening, 'INVALID_INPUT')).message, /listener/);
      await settled();
      assert.equal(service.sockets(), 0);
    });
  }
});

describe('a listener that joins a channel twice', () => {
  it('counts as two, one of which can leave', async () => {
    const { service, client } = await simulated();
    const uploads: string[] = [];
    const listener: ChannelListener = { onUpload: ({ body }) => uploads.push(body.toString()) };
    const first = client.listen(CHIPID, listener);
    const second = client.listen(CHIPID, listener);
    await until(() => service.channels() === 1 && second.channel.state === 'connected');
    service.upload(CHIPID, 'a');
    await until(() => uploads.length === 2);
    first.release();
    first.release();
    service.upload(CHIPID, 'b');
    await until(() => uploads.length === 3);
    assert.deepEqual([uploads, service.channels()], [['a', 'a', 'b'], 1]);
    second.release();
    await until(() => service.sockets() === 0, 'the end of the channel');
  });
});

describe('a callback of a channel', () => {
  const callbacks = ['onUpload', 'onState', 'onFault'] as const;
  for (const name of callbacks) {
    /** Listens with one callback that acts once, makes each of them be called, and waits for an upload. */
    const acting = async (act: (leave: () => void) => void) => {
      const { escaped } = watchProcess();
      const { service, client } = await simulated();
      const calls: string[] = [];
      let done = false;
      const listener = {
        [name]() {
          calls.push(name);
          if (done) return;
          done = true;
          act(() => subscription.release());
        },
      };
      const subscription = client.listen(CHIPID, listener);
      return { escaped, service, client, calls };
    };

    for (const isLast of [false, true])
      it(`may release${isLast ? ' the last listener, which closes the channel' : ''}: ${name}`, async () => {
        const { escaped, service, client, calls } = await acting((leave) => leave());
        const other = isLast ? undefined : listen(client);
        await until(() => (other ? other.changes : calls).length > 0 || service.channels() === 1);
        await other?.state('connected');
        service.fail('bad-json', { times: 1 });
        for (const text of ['spoilt', 'a', 'b']) service.upload(CHIPID, text);
        await until(() => (other ? other.uploads.length === 2 : service.sockets() === 0));
        await settled();
        assert.deepEqual([calls, escaped, service.channels()], [[name], [], isLast ? 0 : 1]);
      });

    it(`may join, and the new listener is called from the next event on: ${name}`, async () => {
      const joined: ReturnType<typeof listen>[] = [];
      const { escaped, service, client, calls } = await acting(() => joined.push(listen(client)));
      const other = listen(client);
      await other.state('connected');
      service.fail('bad-json', { times: 1 });
      for (const text of ['spoilt', 'a', 'b']) service.upload(CHIPID, text);
      await until(() => other.uploads.length === 2);
      const later = { onState: ['a', 'b'], onFault: ['a', 'b'], onUpload: ['b'] }[name];
      assert.equal(calls[0], name);
      assert.deepEqual([joined[0]!.texts(), escaped], [later, []]);
      assert.equal(service.channels(), 1);
    });

    it(`may close the client, after which no other listener is called: ${name}`, async () => {
      const { escaped, service, client } = await acting(() => void client.close());
      // Its end takes a few turns of the event loop.
      client.push('5', 'later', { when: 'upload' }).catch(() => undefined);
      const other = listen(client);
      await until(() => service.channels() === 1 || service.requests.length > 0);
      service.fail('bad-json', { times: 1 });
      for (const text of ['spoilt', 'a', 'b']) service.upload(CHIPID, text);
      await until(() => service.sockets() === 0, 'the end of the channel');
      await settled();
      assert.deepEqual(escaped, []);
      assert.deepEqual(other.uploads, []);
    });
  }

  it('that closes the client because of a frame that is too large ends the channel permanently', async () => {
    const { escaped } = watchProcess();
    const service = await channelService((channel) => {
      channel.send(Buffer.alloc(16 * 1024 * 1024 + 1));
    });
    const client = clientOf(service.baseUrl);
    let closed = false;
    client.listen(CHIPID, {
      onFault() {
        closed = true;
        void client.close();
      },
    });
    await until(() => closed && service.sockets() === 0);
    await settled();
    assert.deepEqual([escaped, service.opened()], [[], 1]);
  });
});
