import assert from 'node:assert/strict';
import { CONNECTIONS } from '../../../src/http/pool';
import { mock } from 'node:test';
import type {
  RequestMatch,
  RequestOptions,
  RequestProgress,
  UploadDecoder,
} from '../../../src/commands/reply';
import { DeviceCloudError } from '../../../src/errors';
import { freePort } from '../../tooling/servers/ports';
import { settled, until } from '../../tooling/until';
import { clientOf, simulated, simulator } from '../support/client';
import { failure } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import { CHIPID, listen } from '../support/listener';
import { gone, resources } from '../support/resources';
import { inEachDialect, isPublic } from '../../tooling/dialect';

const ANY: RequestMatch = { pattern: '' + '[^]*' };
const id = (equals: number): RequestMatch => ({ property: 'id', equals });

type World = Awaited<ReturnType<typeof world>>;

/** A simulator, a client, and requests to the first device. */
async function world(options: Parameters<typeof simulator>[0] = {}) {
  const { service, client } = await simulated(options);
  const { received } = service.device(CHIPID);
  return {
    service,
    client,
    received,
    ask: (
      match: RequestMatch,
      more: Partial<RequestOptions> = {},
      message: object | string = 'x',
    ) => client.request(CHIPID, message, { match, ...more }),
    /** Waits until the device has got that many pushes. */
    pushed: (count: number) => until(() => received.length >= count, `${count} pushes arrived`),
    upload: (body: unknown) => service.upload(CHIPID, body),
  };
}

/** Cuts the channel, uploads while it is down, and lets it connect again. */
async function duringGap({ service, upload }: World, bodies: readonly unknown[]): Promise<void> {
  const lift = service.fail('answer-upgrade', { chipid: CHIPID });
  service.disconnect(CHIPID);
  await until(() => service.channels(CHIPID) === 0, 'the channel is down');
  for (const body of bodies) upload(body);
  lift();
  await until(() => service.channels(CHIPID) === 1, 'the channel is up');
}

inEachDialect('a request', () => {
  it('pushes, and resolves with the upload that answers', async () => {
    const { client, received } = await world();
    const question = { get: 'rssi', id: 7 };
    const progress: RequestProgress[] = [];
    const reply = await client.request(CHIPID, question, {
      match: id(7),
      onProgress: (each) => progress.push(each),
    });
    assert.deepEqual(reply.payload, { reply: 'rssi', value: -41, id: 7 });
    assert.deepEqual([reply.answer, reply.statusCode], [{ msg: 'OK' }, 200]);
    assert.ok(reply.upload.timestamp > 0);
    assert.deepEqual([reply.uncertain, reply.upload.replayed], [undefined, undefined]);
    assert.deepEqual(received[0]?.text, JSON.stringify(question));
    assert.deepEqual(progress.at(-1), { state: 'awaiting-reply' });
  });

  it('reports how many milliseconds after its push the reply arrived', async () => {
    const { ask, pushed, upload } = await world();
    const now = performance.now.bind(performance);
    let later = 0;
    const clock = mock.method(performance, 'now', () => now() + later);
    const reply = ask(id(1));
    await pushed(1);
    later = 5000;
    upload({ id: 1 });
    const { elapsed } = await reply;
    clock.mock.restore();
    assert.ok(Number.isInteger(elapsed) && elapsed >= 5000, String(elapsed));
  });

  it('skips uploads that do not match or cannot be decoded; listeners receive each', async () => {
    const { client, ask, pushed, upload } = await world();
    const listener = listen(client);
    await listener.state('connected');
    const reply = ask(id(1), { datatype: 'json' });
    await pushed(1);
    const bodies = [
      'not JSON',
      Buffer.from([0xff]),
      { id: '1' },
      [],
      { id: 1, n: 1 },
      { id: 1, n: 2 },
    ];
    for (const body of bodies) upload(body);
    assert.deepEqual((await reply).payload, { id: 1, n: 1 });
    await until(() => listener.uploads.length === bodies.length);
  });

  it('matches what a decoder of its own makes of uploads', async () => {
    const { ask, pushed, upload } = await world();
    const calls: string[] = [];
    const decode: UploadDecoder = (body, charset) => {
      calls.push(`${body.toString()} ${charset}`);
      return body[0] === 0x2d ? { problem: 'it is negative' } : { value: { id: body[0] } };
    };
    const replies = [ask(id(0x41), { decode }), ask(id(0x42), { decode })];
    await pushed(1);
    for (const body of ['-1', 'A', 'B']) upload(Buffer.from(body));
    await pushed(2);
    assert.deepEqual((await replies[0])?.payload, { id: 0x41 });
    upload(Buffer.from('B'));
    assert.deepEqual((await replies[1])?.payload, { id: 0x42 });
    assert.deepEqual(calls.slice(0, 2), ['-1 utf-8', 'A utf-8']);
  });

  it('is NOT_CONNECTED if the channel does not open in time, and nothing is sent', async () => {
    const expire = heldTimers();
    const client = clientOf(`http://127.0.0.1:${await freePort()}`);
    const request = failure(
      client.request(CHIPID, 'x', { match: 'next', timeout: HOUR }),
      'NOT_CONNECTED',
    );
    await listen(client).state('disconnected');
    expire();
    assert.match(
      (await request).message,
      /The channel did not connect in 3600 s \(ECONNREFUSED\)\. .*device 10000001 was not sent/,
    );

    const { service, ask, received } = await world();
    service.fail('answer-upgrade');
    const second = failure(ask('next', { timeout: HOUR }), 'NOT_CONNECTED');
    await until(() => service.requests.length > 0, 'the channel was refused');
    expire();
    await second;
    assert.equal(received.length, 0);
  });

  it('is answered by a reply that came while the process stood still', async () => {
    const expire = heldTimers();
    const { ask, pushed, upload } = await world();
    const reply = ask(id(7), { replyTimeout: HOUR });
    await pushed(1);
    // As after a pause, its time is over before what is in the socket is read.
    setTimeout(() => {
      upload({ id: 7 });
      expire();
    });
    assert.deepEqual((await reply).payload, { id: 7 });
  });

  it('does not need a history', async () => {
    const { service, ask } = await world();
    service.fail('gateway', { path: 'up_messages' });
    const reply = await ask(id(1), {}, { get: 'rssi', id: 1 });
    assert.equal(reply.uncertain, undefined);
  });

  it('is NO_REPLY if nothing matches in time, and reports what arrived', async () => {
    const { client, ask, pushed, upload } = await world();
    const silent = await failure(ask('next', { replyTimeout: 200 }), 'NO_REPLY');
    const expire = heldTimers();
    const { uploads } = listen(client);
    assert.match(
      silent.message,
      /^NO_REPLY: No upload answered in 0.2 s\. Push to device 10000001 was accepted\. No upload came/,
    );
    const failed = failure(
      ask({ property: 'a.id', equals: '5' }, { replyTimeout: HOUR, datatype: 'json' }),
      'NO_REPLY',
    );
    await pushed(2);
    for (const body of [{ a: { id: 5 } }, 'text']) upload(body);
    await until(() => uploads.length === 2, 'both uploads have come');
    await settled();
    expire();
    assert.match(
      (await failed).message,
      /Of 2 uploads none has the property "a\.id" with the value "5" \(string\); 1 could not be decoded as json\. Compare/,
    );
  });

  it('fails with the error of a push that certainly failed, whatever arrived meanwhile', async () => {
    const { service, ask, upload } = await world({ answerDelay: 100 });
    service.fail('bad-request', { path: 'dev/push', acts: true });
    const request = ask('next');
    await until(() => service.device(CHIPID).received.length === 1);
    upload('an upload');
    await failure(request, 'BAD_REQUEST');
  });
});

describe('a request whose push certainly was not sent', () => {
  it('fails at once, and no upload is its reply', async () => {
    const { service, client } = await simulated();
    await client.request(CHIPID, { id: 1, get: 'rssi' }, { match: id(1) });
    service.fail('hang', { path: 'gpio_status' });
    for (let other = 1; other <= CONNECTIONS; other++)
      void client.gpioStatus(other).catch(() => undefined);
    const hung = (): number =>
      service.requests.filter(({ path }) => path.includes('gpio_status')).length;
    await until(() => hung() === CONNECTIONS);
    const request = client.request(CHIPID, 'x', {
      match: 'next',
      timeout: 200,
      replyTimeout: 60_000,
    });
    const { uncertain } = await failure(request, 'TIMEOUT');
    assert.equal(uncertain, false);
  });
});

inEachDialect('a request whose push has an unknown outcome', () => {
  it('succeeds with the reply, and is uncertain', async () => {
    const { service, client, ask, pushed, upload } = await world({ answerDelay: 60_000 });
    const { uploads } = listen(client);
    const expire = heldTimers();
    const held = ask(id(1), { timeout: HOUR });
    await pushed(1);
    upload({ id: 1 });
    await until(() => uploads.length === 1, 'the reply has come');
    await settled();
    expire();
    const before = await held;
    assert.deepEqual([before.uncertain, before.statusCode], [true, undefined]);

    service.delay(CHIPID, 0);
    service.fail('gateway', { path: 'dev/push', acts: true, times: 1 });
    let isAwaiting = false;
    const request = ask(id(2), {
      onProgress: ({ state }) => (isAwaiting = state === 'awaiting-reply'),
    });
    await until(() => isAwaiting);
    upload({ id: 2 });
    const after = await request;
    assert.deepEqual([after.uncertain, after.answer], [true, undefined]);
    assert.equal(after.statusCode, 502);
  });

  it('fails with the error of the push if nothing matches', async () => {
    const { ask, service } = await world();
    // The channel, for which the time-out holds, too, is open from now on.
    await failure(ask('next', { replyTimeout: 100 }), 'NO_REPLY');
    service.delay(CHIPID, 60_000);
    await failure(ask('next', { timeout: 100, replyTimeout: 300 }), 'TIMEOUT');
    await failure(ask('next', { timeout: 300, replyTimeout: 100 }), 'TIMEOUT');
  });
});

describe('several requests to a device', () => {
  it('run one at a time if they accept any upload, each with its own reply', async () => {
    const { client, service, received } = await world();
    const asked = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let longest = 0;
    const onProgress = (progress: RequestProgress): void => {
      if (progress.state === 'waiting') longest = Math.max(longest, progress.ahead);
    };
    const replies = await Promise.all(
      asked.map((each) =>
        client.request(CHIPID, { get: 'rssi', id: each }, { match: 'next', onProgress }),
      ),
    );
    const ids = replies.map(({ payload }) => (payload as { id: number }).id);
    assert.deepEqual([ids, received.length, service.channels()], [asked, 10, 1]);
    assert.equal(longest, 9, 'the last one was shown how many are ahead of it');
  });

  for (const [what, match] of [
    ['that take any upload', 'next'],
    ['that wait for a reply', id(1)],
  ] as const) {
    it(`may be 101 ${what}, the next is QUEUE_FULL; the close of the client ends them`, async () => {
      const { client, ask, received } = await world();
      const requests = Array.from({ length: 102 }, () =>
        ask(match).catch((error: unknown) => error),
      );
      const full = (await requests[101]) as DeviceCloudError;
      assert.equal(full.code, 'QUEUE_FULL');
      await until(() => received.length === (match === 'next' ? 1 : 101));
      await client.close();
      const codes = (await Promise.all(requests)).map((error) => (error as DeviceCloudError).code);
      const sent = codes.filter((code) => code === 'CONNECTION_LOST').length;
      assert.ok(received.length === (match === 'next' ? 1 : 101) && sent >= 1, codes.join());
      assert.ok(
        codes.slice(0, 101).every((code) => ['CONNECTION_LOST', 'UNREACHABLE'].includes(code)),
      );
    });
  }
});

inEachDialect('a request while the channel is down', () => {
  it('is answered by a reply in a gap after its push, and only then', async () => {
    const subject = await world();
    const { ask, pushed } = subject;
    const before = ask(id(1));
    await pushed(1);
    await duringGap(subject, [{ id: 2 }, { id: 1 }]);
    const reply = await before;
    assert.deepEqual([reply.payload, reply.upload.replayed], [{ id: 1 }, true]);
    // {id: 2} was recovered, too, and is older than this one.
    const after = ask(id(2));
    await pushed(2);
    // The public server's history has nothing that stands before a comma.
    const later = isPublic() ? { id: 2 } : { id: 2, later: true };
    await duringGap(subject, [later]);
    assert.deepEqual((await after).payload, later);
  });

  it('waits for the channel again if it is lost before its turn', async () => {
    const subject = await world();
    const { client, service, ask, pushed, received } = subject;
    await ask(id(0), {}, { get: 'rssi', id: 0 });
    service.delay(CHIPID, 300);
    const blocking = client.push(CHIPID, 'blocks');
    const request = ask(id(1));
    await pushed(2);
    const lift = service.fail('answer-upgrade');
    service.disconnect(CHIPID);
    await blocking;
    await settled(50);
    assert.equal(received.length, 2, 'it is not sent');
    lift();
    await pushed(3);
    service.upload(CHIPID, { id: 1 });
    assert.equal((await request).upload.replayed, undefined);
  });
});

describe('a request that is given up', () => {
  it('was not sent, or is no longer awaited, and the error says which', async () => {
    const { client, service, ask, pushed, received } = await world({ answerDelay: 1500 });
    const [queued, sending, waiting] = [1, 2, 3].map(() => new AbortController());
    const blocking = client.push(CHIPID, 'blocks');
    const first = failure(ask('next', { signal: queued!.signal }), 'UNREACHABLE');
    await pushed(1);
    queued!.abort('the node was closed');
    assert.match((await first).message, /Not sent: the node was closed/);
    await blocking;

    service.delay(CHIPID, 60_000);
    const second = failure(ask(ANY, { signal: sending!.signal }), 'CONNECTION_LOST');
    await pushed(2);
    sending!.abort('the node was closed');
    assert.match((await second).message, /Broken off: the node was closed.*unknown/);

    service.delay(CHIPID, 0);
    let isAwaiting = false;
    const onProgress = ({ state }: RequestProgress) => (isAwaiting = state === 'awaiting-reply');
    const third = failure(ask(ANY, { signal: waiting!.signal, onProgress }), 'CONNECTION_LOST');
    await until(() => isAwaiting);
    waiting!.abort('the node was closed');
    assert.match(
      (await third).message,
      /The reply is no longer awaited: the node was closed\. .* was sent and accepted/,
    );

    service.fail('answer-upgrade');
    service.disconnect();
    await until(() => service.channels() === 0);
    const connecting = new AbortController();
    const fourth = failure(ask('next', { signal: connecting.signal }), 'UNREACHABLE');
    await settled();
    connecting.abort();
    await fourth;
    assert.equal(received.length, 3);
  });

  it('leaves nothing behind after the close of the client', async () => {
    const service = await simulator();
    const before = resources();
    const client = clientOf(service.baseUrl);
    await client.request(CHIPID, { get: 'rssi' }, { match: 'next' });
    assert.equal(service.channels(), 1, 'the channel is kept');
    const pending = failure(client.request(CHIPID, 'x', { match: id(1) }), 'CONNECTION_LOST');
    await until(() => service.device(CHIPID).received.length === 2);
    service.upload(CHIPID, 'x');
    await settled();
    await client.close();
    await pending;
    await until(() => service.sockets() === 0);
    await gone(before);
  });
});
