import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeviceCloudClient } from '../../../src/client';
import { isDeviceCloudError } from '../../../src/errors';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { inEachDialect, isPublic } from '../../../tooling/dialect';
import { atEnd } from '../../../tooling/servers/at-end';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';
import { clientOf, KEYS, simulator } from '../support/client';
import { CHIPID, listen } from '../support/listener';
import { openChannel } from './client';

const OTHER = '10000002';
const folder = temporaryFolder('play');
let files = 0;
const newPath = (): string => join(folder, `${++files}.jsonl`);
const HEADER = { format: 'device-cloud-recording', version: 1, started: 1_790_000_000_000 };

/** Writes a recording by hand. */
function written(lines: readonly (object | string)[], header: object = HEADER): string {
  const path = newPath();
  const text = [header, ...lines].map((line) =>
    typeof line === 'string' ? line : JSON.stringify(line),
  );
  writeFileSync(path, `${text.join('\n')}\n`);
  return path;
}

const upload = (t: number, body: string, chipid = CHIPID): object => ({
  ...{ t, kind: 'upload', chipid, timestamp: HEADER.started + t },
  body: Buffer.from(body).toString('base64'),
});

async function playing(file: string, more: object = {}): Promise<Simulator> {
  const service = await startSimulator({ ...KEYS, play: { file, ...more } });
  atEnd(() => service.close());
  return service;
}

/** What calls answer, or the codes of their errors. */
const outcomes = (client: DeviceCloudClient): Promise<unknown[]> =>
  Promise.all(
    [
      () => client.gpioStatus(CHIPID),
      () => client.rtStatus(CHIPID, 'temperature'),
      () => client.setGpioEdge(CHIPID, 5, 1),
      () => client.push(CHIPID, 'on'),
      () => client.push(OTHER, 'on'),
      () => client.devices().then(({ body }) => body.map(({ chipid, name }) => [chipid, name])),
    ].map(async (call) => {
      try {
        return await call();
      } catch (error) {
        return isDeviceCloudError(error) ? error.code : error;
      }
    }),
  );

inEachDialect('a recording that is played', () => {
  it('gives listeners and callers what they were given when it was recorded', async () => {
    const service = await simulator({ devices: 2, offlineAfter: 100 });
    const client = clientOf(service.baseUrl);
    const [one, other] = [listen(client), listen(client, OTHER)];
    await Promise.all([one.state('connected'), other.state('connected')]);
    await client.devices();
    const path = newPath();
    const recording = await client.record(path);
    for (const body of ['a', 'b', 'c']) service.upload(CHIPID, body);
    service.upload(OTHER, Buffer.from([0, 255, 1]), { type: 'uart_trans' });
    await until(() => one.uploads.length + other.uploads.length === 4);
    service.fail('gateway-timeout', { chipid: OTHER });
    service.device(CHIPID);
    const answered = await outcomes(client);
    service.disconnect(CHIPID);
    await one.state('connected', 2);
    service.upload(CHIPID, 'after');
    await until(() => one.uploads.length === 4);
    await recording.stop();

    const again = await playing(path);
    assert.deepEqual([...again.devices.keys()], [CHIPID, OTHER]);
    const player = clientOf(again.baseUrl);
    const [first, second] = [listen(player), listen(player, OTHER)];
    await until(() => again.playing?.state === 'playing');
    assert.deepEqual(await outcomes(player), answered);
    await again.playing?.done;
    await until(() => first.uploads.length === 4 && second.uploads.length === 1, 'all came');
    assert.deepEqual(first.texts(), one.texts());
    assert.deepEqual(
      second.uploads.map(({ body, type }) => [body, type]),
      other.uploads.map(({ body, type }) => [body, type]),
    );
    assert.equal(first.changes.find(({ state }) => state === 'disconnected')?.reason, '1001');
    assert.equal(again.playing?.uploads, 5);
    assert.equal(again.device(CHIPID).received.length, 1);
  });

  it('lets recovery give back what was missed', async () => {
    const zone = isPublic() ? '+00:00' : undefined;
    const path = written([
      ...(isPublic()
        ? [{ t: 0, kind: 'list', path: 'devices/lists/', ms: 1, status: 200, devices: [] }]
        : []),
      upload(100, 'live'),
      { t: 200, kind: 'channel', chipid: CHIPID, state: 'disconnected', reason: '1006' },
      { t: 900, kind: 'channel', chipid: CHIPID, state: 'connected' },
      { ...upload(1000, 'missed'), replayed: true },
      upload(1100, 'later'),
    ]);
    const service = await playing(path);
    const client = clientOf(service.baseUrl, { random: () => 0.3 });
    const got: [string, boolean][] = [];
    client.listen(
      CHIPID,
      { onUpload: ({ body, replayed }) => got.push([body.toString(), replayed === true]) },
      { zone },
    );
    await until(() => got.length === 3);
    assert.deepEqual(got.slice(0, 2), [
      ['live', false],
      ['missed', true],
    ]);
    assert.equal(got[2]?.[0], 'later');
  });
});

describe('a recording that is played', () => {
  it('takes a sixtieth of its time at sixty times the speed, in the same order', async () => {
    const lines: object[] = [];
    const chipids = Array.from({ length: 100 }, (_, index) => String(10_000_001 + index));
    for (let t = 0; t < 60_000; t += 50) {
      const number = lines.length;
      lines.push(upload(t, `n${number}`, chipids[number % 100]));
    }
    const service = await playing(written(lines), { speed: 60 });
    const client = clientOf(service.baseUrl);
    const order = new Map<string, number[]>(chipids.map((chipid) => [chipid, []]));
    for (const [chipid, got] of order)
      client.listen(chipid, { onUpload: ({ body }) => got.push(Number(body.toString().slice(1))) });
    await until(() => [...order.values()].flat().length === lines.length);
    for (const got of order.values())
      assert.deepEqual(
        got,
        got.toSorted((a, b) => a - b),
      );
  });

  it('has the presence and the failures of the list, and begins again if it loops', async () => {
    const devices = (...chipids: string[]): object[] =>
      chipids.map((chipid) => ({ chipid, name: `N${chipid}` }));
    const list = { kind: 'list', path: 'devices/list/', ms: 1 };
    const service = await playing(
      written([
        { ...list, t: 0, status: 200, devices: devices(CHIPID, OTHER) },
        { ...list, t: 300, status: 200, devices: devices(OTHER) },
        { ...list, t: 600, status: 502, code: 'GATEWAY', answer: { msg: 'no' } },
        { ...list, t: 900, status: 200, devices: devices(CHIPID, OTHER) },
        upload(1200, 'end'),
      ]),
      { loop: true },
    );
    const client = clientOf(service.baseUrl);
    const seen: string[] = [];
    const look = async (): Promise<void> => {
      const now = await client.devices().then(
        ({ body }) => body.map(({ chipid }) => chipid).join(),
        (error: unknown) => (isDeviceCloudError(error) ? error.code : 'ERROR'),
      );
      if (seen.at(-1) !== now) seen.push(now);
    };
    await until(async () => (await look(), seen.length >= 6));
    const [both, one] = [`${CHIPID},${OTHER}`, OTHER];
    assert.ok(seen.join(' ').includes([both, one].join(' ')), seen.join(' '));
    assert.ok(seen.filter((each) => each === both).length >= 2, seen.join(' '));
  });

  it('falls silent as it did: the channel stays open, and answers no ping until it is cut', async () => {
    const service = await playing(
      written([
        upload(100, 'heard'),
        { t: 1500, kind: 'channel', chipid: CHIPID, state: 'disconnected', reason: 'SILENT' },
        { t: 1600, kind: 'channel', chipid: CHIPID, state: 'connected' },
        upload(1700, 'heard again'),
      ]),
    );
    const happened: string[] = [];
    const socket = await openChannel(service, CHIPID);
    const first = new Promise<void>((resolve) => socket.once('message', () => resolve()));
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('pong', () => happened.push('pong'));
    const pong = new Promise<void>((resolve) => socket.once('pong', () => resolve()));
    socket.ping();
    await pong;
    await first;
    happened.push('upload');
    // It falls silent one millisecond after what was heard last.
    await until(() => service.playing?.uploads === 1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.ping();
    service.upload(CHIPID, 'not heard');
    socket.on('message', () => happened.push('another upload'));
    await closed;
    assert.deepEqual(happened, ['pong', 'upload']);
    let again = 0;
    await until(() => openChannel(service, CHIPID, () => again++).catch(() => undefined));
    await until(() => again > 0, 'it is heard again');
  });

  it('is refused with a reason if it is no recording', async () => {
    const text = newPath();
    writeFileSync(text, 'hello\n');
    for (const [file, reason] of [
      [join(folder, 'none.jsonl'), /There is no file/],
      [folder, /is no file|cannot be read/],
      [text, /is no recording/],
      [written([], { ...HEADER, version: 2 }), /version 2/],
      [written([], { format: 'other' }), /is no recording/],
    ] as const) {
      await assert.rejects(startSimulator({ play: { file } }), reason);
    }
    await assert.rejects(startSimulator({ play: { file: written([]), speed: 0 } }), /speed/);
  });

  it('survives what a recording should not have', async () => {
    const long = newPath();
    const deep = `{"t":1,"kind":"call","method":"GET","path":"x","ms":1,"status":200,"answer":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    writeFileSync(
      long,
      [
        JSON.stringify(HEADER),
        `{"t":0,"kind":"upload","body":"${'A'.repeat(18 * 2 ** 20)}"}`,
        deep,
        '{"t":-1,"kind":"upload"}',
        'null',
        '{"t":1e300,"kind":"end"}',
        '{"t":2,"kind":"of a later version","chipid":5}',
        JSON.stringify({
          t: 3,
          kind: 'list',
          ms: 0,
          devices: [{ chipid: '../../x', name: '../y' }, 5],
        }),
        JSON.stringify({ t: 3, kind: 'upload', chipid: '__proto__', timestamp: 1, body: '' }),
        JSON.stringify({ t: 3, kind: 'dropped', lines: 1, chipid: { of: 'another kind' } }),
        JSON.stringify({
          t: 4,
          kind: 'channel',
          chipid: CHIPID,
          state: 'disconnected',
          reason: '1500',
        }),
        JSON.stringify({ t: 4, kind: 'channel', chipid: CHIPID, state: 'connected' }),
        JSON.stringify(upload(5, 'good')),
        '{"t":6,"kind":"upl',
      ].join('\n'),
    );
    const service = await playing(long);
    const client = clientOf(service.baseUrl);
    const listener = listen(client);
    await until(() => listener.uploads.length === 1);
    assert.deepEqual([...service.devices.keys()], [CHIPID]);
    assert.equal(service.playing?.skipped, 7);
    await service.playing.done;
  });
});
