import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../../src/recovery/position';
import type { Simulator } from '../../src/simulator';
import type { SubscribeOptions, UploadStream } from '../../src/subscription';
import { until } from '../tooling/until';
import { failure, thrown } from './support/failure';
import { clientOf, simulator } from './support/client';
import { CHIPID } from './support/listener';

/** A loop over the uploads of a device whose channel is open. */
async function subscribed(options: SubscribeOptions = {}, service?: Simulator) {
  const cloud = service ?? (await simulator({ devices: 1 }));
  const client = clientOf(cloud.baseUrl, { ping: 0 });
  let wasOpen = false;
  const stream = client.subscribe(CHIPID, {
    ...options,
    // A loop that is full at once leaves its channel before a look at its state would see it open.
    onState(state) {
      wasOpen ||= state === 'connected';
      options.onState?.(state);
    },
  });
  await until(() => wasOpen, 'the channel is open');
  const upload = (...texts: string[]): void => texts.forEach((text) => cloud.upload(CHIPID, text));
  return { cloud, client, stream, upload };
}

/** The next uploads of a loop that goes on. */
async function take(stream: UploadStream, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) {
    const { value, done } = await stream.next();
    if (done) break;
    texts.push(String(value.body));
  }
  return texts;
}

describe('a loop over the uploads of a device', () => {
  it('is given each live upload in order, and leaves the channel when it is left', async () => {
    const { cloud, stream, upload } = await subscribed();
    upload('a', 'b', 'c');
    const texts: string[] = [];
    for await (const { chipid, body } of stream) {
      texts.push(`${chipid} ${String(body)}`);
      if (texts.length === 3) break;
    }
    assert.deepEqual(texts, [`${CHIPID} a`, `${CHIPID} b`, `${CHIPID} c`]);
    await until(() => cloud.channels(CHIPID) === 0, 'the channel is closed');
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  });

  it('waits for the next upload', async () => {
    const { stream, upload } = await subscribed();
    const taken = take(stream, 2);
    upload('a');
    await nextTurn();
    upload('b');
    assert.deepEqual(await taken, ['a', 'b']);
  });

  it('leaves the channel when its body throws', async () => {
    const { cloud, stream, upload } = await subscribed();
    upload('a');
    const loop = async (): Promise<void> => {
      for await (const { body } of stream) throw new Error(String(body));
    };
    await assert.rejects(loop(), { message: 'a' });
    await until(() => cloud.channels(CHIPID) === 0, 'the channel is closed');
  });

  const limits: [what: string, options: SubscribeOptions, given: string[]][] = [
    ['uploads', { maxUploads: 2 }, ['1111', '2222']],
    ['bytes', { maxBytes: 10 }, ['1111', '2222']],
    ['bytes, but has one at least', { maxBytes: 1 }, ['1111']],
  ];
  for (const [what, options, given] of limits) {
    it(`ends with QUEUE_FULL after what waits, if that is too many ${what}`, async () => {
      const { cloud, stream, upload } = await subscribed(options);
      upload('1111', '2222', '3333', '4444');
      await until(() => cloud.channels(CHIPID) === 0, 'the channel is left');
      assert.deepEqual(await take(stream, given.length), given);
      const { message } = await failure(stream.next(), 'QUEUE_FULL');
      assert.match(
        message,
        new RegExp(`^QUEUE_FULL: ${given.length} uploads .* device ${CHIPID} has ended`),
      );
      assert.deepEqual(await take(stream, 1), []);
    });
  }

  it('is ended by its signal, also if that has aborted before', async () => {
    const controller = new AbortController();
    const { cloud, client, stream, upload } = await subscribed({ signal: controller.signal });
    upload('a');
    assert.deepEqual(await take(stream, 1), ['a']);
    const taken = take(stream, 1);
    controller.abort();
    assert.deepEqual(await taken, []);
    assert.deepEqual(await take(client.subscribe(CHIPID, { signal: controller.signal }), 1), []);
    await until(() => cloud.channels(CHIPID) === 0, 'the channel is closed');
  });

  it('is ended by the close of the client', async () => {
    const { client, stream } = await subscribed();
    const taken = take(stream, 1);
    await client.close();
    assert.deepEqual(await taken, []);
  });

  it('calls the other callbacks of a listener', async () => {
    const states: string[] = [];
    const { cloud } = await subscribed({ onState: (state) => states.push(state) });
    cloud.disconnect(CHIPID);
    // It may have been reopened since.
    await until(() => states.length > 1, 'the channel goes down');
    assert.deepEqual(states.slice(0, 2), ['connected', 'disconnected']);
  });

  it('saves the position of what it has handled, and no further: the rest comes again', async () => {
    const cloud = await simulator({ devices: 1 });
    let start: Position | undefined;
    const save = (position: Position): void => void (start = position);
    const { stream, upload } = await subscribed({ recover: { save } }, cloud);
    await until(() => start !== undefined, 'the first position');
    upload('a', 'b', 'c');
    // The third was asked for, but nothing says that it was handled.
    assert.deepEqual(await take(stream, 3), ['a', 'b', 'c']);
    await stream.return();
    upload('d');
    const next = await subscribed({ recover: { save, start: start! } }, cloud);
    assert.deepEqual(await take(next.stream, 2), ['c', 'd']);
    next.upload('e');
    assert.deepEqual(await take(next.stream, 1), ['e']);
    const last = await subscribed({ recover: { start: start! } }, cloud);
    assert.deepEqual(await take(last.stream, 1), ['e']);
  });

  it('loses nothing when it is full during a recovery', async () => {
    const cloud = await simulator({ devices: 1 });
    let start: Position | undefined;
    const save = (position: Position): void => void (start = position);
    const first = await subscribed({ recover: { save } }, cloud);
    await until(() => start !== undefined, 'the first position');
    first.stream.release();
    first.upload('a', 'b', 'c');
    // It may leave the channel before anyone has seen it open.
    const options = { recover: { save, start: start! }, maxUploads: 2 };
    const full = clientOf(cloud.baseUrl, { ping: 0 }).subscribe(CHIPID, options);
    const readings = (): number =>
      cloud.requests.filter(({ path, status }) => path.includes('up_messages') && status === 200)
        .length;
    await until(() => readings() === 2 && cloud.channels(CHIPID) === 0, 'the channel is left');
    assert.deepEqual(await take(full, 2), ['a', 'b']);
    await failure(full.next(), 'QUEUE_FULL');
    const again = await subscribed({ recover: { save, start: start! } }, cloud);
    assert.deepEqual(await take(again.stream, 3), ['a', 'b', 'c']);
  });

  it('waits until a position is saved, and ends with what that throws', async () => {
    const saved: string[] = [];
    let fails = false;
    const save = async ({ id }: Position): Promise<void> => {
      await nextTurn();
      if (fails) throw new Error('The disk is full.');
      saved.push(id);
    };
    const { cloud, stream, upload } = await subscribed({ recover: { save } });
    await until(() => saved.length > 0, 'the first position');
    upload('a', 'b', 'c');
    assert.deepEqual(await take(stream, 1), ['a']);
    const before = saved.length;
    assert.deepEqual(await take(stream, 1), ['b']);
    assert.equal(saved.length, before + 1);
    fails = true;
    await assert.rejects(stream.next(), { message: 'The disk is full.' });
    await until(() => cloud.channels(CHIPID) === 0, 'the channel is left');
    assert.deepEqual(await take(stream, 1), []);
  });

  it('cannot have limits or a signal that are invalid', async () => {
    const client = clientOf((await simulator()).baseUrl);
    const bad = [{ maxUploads: 0 }, { maxBytes: 1.5 }, { signal: 1 as never }, { recover: { start: 1 as never } }, { recover: { saveLater: () => undefined } }]; // prettier-ignore
    for (const options of bad)
      thrown(() => client.subscribe(CHIPID, options as SubscribeOptions), 'INVALID_INPUT');
    thrown(() => client.subscribe('x'), 'INVALID_INPUT');
  });
});

describe('the end of a block', () => {
  it('releases what it uses: a listener, a loop, and the client', async () => {
    const cloud = await simulator({ devices: 2 });
    {
      await using client = clientOf(cloud.baseUrl);
      {
        using subscription = client.listen(CHIPID, {});
        using stream = client.subscribe('10000002');
        await until(() => subscription.channel.state === 'connected');
        await until(() => stream.channel.state === 'connected');
        assert.equal(cloud.channels(), 2);
      }
      await until(() => cloud.channels() === 0, 'both channels are closed');
      client.listen(CHIPID, {});
      await until(() => cloud.channels() === 1);
    }
    await until(() => cloud.channels() === 0, 'the client has closed its channel');
  });
});
