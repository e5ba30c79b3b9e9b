import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeviceCloudClient } from '../../../src/client';
import { Recording, type CallLine, type RecordedLine } from '../../../src/recording/read';
import type { RecordOptions, RecordingState } from '../../../src/recording/write';
import { inEachDialect, isPublic } from '../../../tooling/dialect';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';
import { failure } from '../support/failure';
import { clientOf, keysOf, simulator } from '../support/client';
import { CHIPID, listen } from '../support/listener';

const OTHER = '10000002';
const folder = temporaryFolder('recordings');
let files = 0;
const newPath = (): string => join(folder, `${++files}.jsonl`);

/** Records what happens, and reads it. */
async function recorded(
  client: DeviceCloudClient,
  happens: () => Promise<unknown>,
  options: RecordOptions = {},
): Promise<RecordedLine[]> {
  const path = newPath();
  const recording = await client.record(path, options);
  await happens();
  await recording.stop();
  return linesOf(path);
}

async function linesOf(path: string): Promise<RecordedLine[]> {
  const lines: RecordedLine[] = [];
  for await (const some of (await Recording.open(path)).lines()) lines.push(...some);
  return lines;
}

const ofKind = <K extends RecordedLine['kind']>(
  lines: readonly RecordedLine[],
  kind: K,
): Extract<RecordedLine, { kind: K }>[] =>
  lines.filter((line): line is Extract<RecordedLine, { kind: K }> => line.kind === kind);

const called = ({ method, path, params, chipid, status, code, answer, text }: CallLine): object =>
  Object.fromEntries(
    Object.entries({ method, path, params, chipid, status, code, answer, text }).filter(
      ([, value]) => value !== undefined,
    ),
  );

inEachDialect('a recording', () => {
  it('has uploads, channels, lists, calls with their outcomes and faults, in order, with times', async () => {
    const service = await simulator({ devices: 2 });
    const client = clientOf(service.baseUrl);
    const listener = listen(client);
    await listener.state('connected');
    const lines = await recorded(client, async () => {
      service.upload(CHIPID, '{"t":1}');
      service.upload(CHIPID, Buffer.from([0, 255]), { type: 'uart_trans' });
      await until(() => listener.uploads.length === 2);
      await client.devices();
      await client.push(CHIPID, 'on');
      service.fail('gateway', { times: 1 });
      await failure(client.setGpioEdge(CHIPID, 5, 1), 'GATEWAY');
      await client.pushOverChannel(CHIPID, 'over');
      service.fail('bad-json', { times: 1 });
      service.upload(CHIPID, 'spoilt');
      await until(() => listener.faults.length === 1);
      service.disconnect(CHIPID);
      await listener.state('connected', 2);
    });
    assert.deepEqual(
      lines.map(({ kind }) => kind).filter((kind) => kind !== 'list'),
      ['channel', 'upload', 'upload', 'call', 'call', 'push', 'fault', 'channel', 'channel', 'end'],
    );
    const [first, second] = ofKind(lines, 'upload');
    assert.equal(Buffer.from(first!.body, 'base64').toString(), '{"t":1}');
    assert.deepEqual([second!.body, second!.type], ['AP8=', 'uart_trans']);
    const list = ofKind(lines, 'list').at(-1)!;
    assert.deepEqual(
      list.devices?.map(({ chipid }) => chipid),
      [CHIPID, OTHER],
    );
    const [push, gpio] = ofKind(lines, 'call').map(called);
    assert.deepEqual(push, {
      ...{ method: 'POST', path: 'dev/push/message/', chipid: CHIPID, status: 200 },
      ...{ params: { devid: CHIPID, message: 'on', format: 'MSG' }, answer: { msg: 'OK' } },
    });
    assert.deepEqual(gpio, {
      ...{ method: 'POST', path: `set_gpio_edge/${CHIPID}/5/1/`, params: {}, chipid: CHIPID },
      ...{ status: 502, code: 'GATEWAY', answer: { msg: 'the gateway failed' } },
    });
    assert.deepEqual(
      ofKind(lines, 'channel').map(({ state, reason }) => [state, reason]),
      [
        ['connected', undefined],
        ['disconnected', '1001'],
        ['connected', undefined],
      ],
    );
    const times = lines.map(({ t }) => t);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(lines.every(({ t }) => Number.isInteger(t)));
  });

  it('holds no key, sign, devkey or address, whatever the service and the flow say', async () => {
    const { appkey, serverKey, serverPassword } = keysOf();
    const devices = [{ chipid: CHIPID, name: 'House', devkey: 'Canary-Devkey' }];
    const service = await simulator({ devices });
    const client = clientOf(service.baseUrl);
    const listener = listen(client);
    await listener.state('connected');
    const path = newPath();
    const recording = await client.record(path);
    await client.app();
    await client.devices();
    await client.push(CHIPID, `AT+PUSH_DEF=1,${appkey}`);
    await client.push(CHIPID, Buffer.from(serverPassword), { format: 'HEX' });
    await client.push(CHIPID, Buffer.from(serverKey), { format: 'B64' }).catch(() => undefined);
    const forms = (secret: string): string[] => [
      Buffer.from(secret).toString('hex'),
      ...['', 'a', 'bc'].map((before) => Buffer.from(`${before}${secret}~`).toString('base64')),
      Buffer.from(`a${secret}`).toString('base64url'),
      encodeURIComponent(`a/b=${secret}~~~~`),
    ];
    const encoded = [appkey, serverKey, serverPassword].flatMap(forms);
    service.upload(CHIPID, `my key is ${appkey}`);
    await until(() => listener.uploads.length === 1);
    for (const each of encoded) await client.push(CHIPID, `it is ${each}`);
    service.upload(CHIPID, encoded.join(' '), { type: 'uart_trans' });
    await until(() => listener.uploads.length === 2);
    await client.serverDevices({ page: 1, count: 5, note: serverPassword });
    service.upload(CHIPID, `I talk to ${service.baseUrl} with ${serverKey.toUpperCase()}`);
    await until(() => listener.uploads.length === 3);
    await recording.stop();
    const text = readFileSync(path, 'utf8');
    const bodies = ofKind(await linesOf(path), 'upload').map(({ body }) =>
      Buffer.from(body, 'base64').toString('latin1'),
    );
    const all = (text + bodies.join('\n')).toLowerCase();
    const signs = service.requests.map(({ query }) => new URLSearchParams(query).get('sign'));
    const { host, port } = new URL(service.baseUrl);
    const secrets = [
      appkey,
      serverKey,
      serverPassword,
      ...encoded.map((each) => each.slice(4, -4)),
    ];
    for (const secret of [...secrets, 'canary-devkey', host, ...signs]) {
      if (secret !== null) assert.ok(!all.includes(secret.toLowerCase()), `it has ${secret}`);
    }
    assert.ok(
      !new RegExp(`appid|user-agent|timestamp=|:${port}`).test(all.replaceAll('"timestamp"', '')),
    );
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('hides the key that a device uploads itself, once a list has shown it', async () => {
    const devkey = 'Canary-Devkey';
    const service = await simulator({
      devices: [
        { chipid: CHIPID, devkey },
        { chipid: OTHER, devkey: 'b'.repeat(9) },
      ],
    });
    const client = clientOf(service.baseUrl);
    const listener = listen(client);
    await listener.state('connected');
    const path = newPath();
    const recording = await client.record(path);
    await client.devices();
    const encoded = [
      Buffer.from(devkey).toString('hex'),
      Buffer.from(`a${devkey}~`).toString('base64'),
    ];
    service.upload(CHIPID, `I am ${devkey.toUpperCase()}`);
    service.upload(CHIPID, `${encoded.join(' ')}, and no key is ${'b'.repeat(9)}`);
    await until(() => listener.uploads.length === 2);
    await client.push(CHIPID, `you are ${devkey}`);
    await client.push(CHIPID, Buffer.from(devkey), { format: 'HEX' });
    await client.uploadHistory(CHIPID).catch(() => undefined);
    await recording.stop();
    const lines = await linesOf(path);
    const bodies = ofKind(lines, 'upload').map(({ body }) =>
      Buffer.from(body, 'base64').toString(),
    );
    assert.deepEqual(bodies[0], `I am ${'*'.repeat(devkey.length)}`);
    assert.match(bodies[1] ?? '', /^\*+ [\w*+/=]+, and no key is b{9}$/);
    const all = `${readFileSync(path, 'utf8')}\n${bodies.join('\n')}`.toLowerCase();
    for (const form of [devkey, encoded[0] ?? '', (encoded[1] ?? '').slice(4, -4)])
      assert.ok(!all.includes(form.toLowerCase()), `it has ${form}`);
  });

  it('replaces chip numbers and names everywhere in the same way, if asked', async () => {
    const devices = [
      {
        chipid: CHIPID,
        name: 'Greenhouse',
        callbacks: { peer: { of: 10000002, at: `<${OTHER}>` } },
      },
      { chipid: OTHER, name: 'Cold store' },
    ];
    const service = await simulator({ devices });
    const client = clientOf(service.baseUrl);
    await client.devices();
    const path = newPath();
    const recording = await client.record(path, { anonymous: true });
    await client.rtStatus(OTHER, 'uptime');
    await client.rtStatus(CHIPID, 'peer');
    await client.uploadHistory(CHIPID);
    await client.push(OTHER, `ask ${CHIPID} at 1000`);
    await recording.stop();
    const text = readFileSync(path, 'utf8');
    assert.ok(!/1000000[12]|Greenhouse|Cold store/.test(text), text);
    const lines = await linesOf(path);
    const [list] = ofKind(lines, 'list');
    const [one, other] = list!.devices!.map(({ chipid }) => chipid);
    const [uptime, peer, , push] = ofKind(lines, 'call');
    assert.equal(uptime!.path, `rt_status/${other}/`);
    assert.equal(peer!.chipid, one);
    assert.ok(JSON.stringify(peer).includes(`<${other}>`));
    assert.deepEqual(push!.params?.['message'], `ask ${one} at 1000`);
  });

  it('replaces chip numbers of devices that only an answer names, short ones too', async () => {
    const service = await simulator({ devices: [{ chipid: CHIPID }, { chipid: '77' }] });
    const client = clientOf(service.baseUrl);
    service.upload(CHIPID, 'a');
    service.upload('77', 'b');
    const day = new Date(Date.now() - 86_400_000);
    const lines = await recorded(
      client,
      async () => {
        await client.serverDevices();
        await client.serverUploads({ page: 1, count: 5 });
        await client.appHistory(day, new Date(Date.now() + 86_400_000));
        await client.devices();
      },
      { anonymous: true },
    );
    const [devices, uploads, history] = ofKind(lines, 'call').map(({ answer }) =>
      JSON.stringify(answer),
    );
    for (const text of [devices, uploads, history]) {
      assert.doesNotMatch(text ?? '', new RegExp(`\\b(${CHIPID}|77)\\b`));
      assert.match(text ?? '', /\b90000001\b[^]*\b90000002\b|\b90000002\b[^]*\b90000001\b/);
    }
    const [list] = ofKind(lines, 'list').slice(-1);
    assert.deepEqual(
      list?.devices?.map(({ chipid }) => chipid),
      ['90000001', '90000002'],
    );
  });

  it('hides the key of a device where several are meant, and what is before a NUL in it', async () => {
    const devkey = 'Canary-Devkey\0more of it';
    const service = await simulator({ devices: [{ chipid: CHIPID, devkey }, { chipid: OTHER }] });
    const client = clientOf(service.baseUrl);
    service.upload(CHIPID, '{"key":"Canary-Devkey"}');
    const path = newPath();
    const recording = await client.record(path);
    await client.devices();
    await client.push(CHIPID, 'it is Canary-Devkey');
    await client.push(OTHER, 'it is canary-devkey');
    await client.pushToApp('key=Canary-Devkey');
    await client.serverUploads({ page: 1, count: 5 });
    await recording.stop();
    assert.doesNotMatch(readFileSync(path, 'utf8'), /canary/i);
    assert.match(readFileSync(path, 'utf8'), /"key=\*\*\*"/);
  });

  it('has only the devices that were chosen', async () => {
    const service = await simulator({ devices: 2 });
    const client = clientOf(service.baseUrl);
    const [one, other] = [listen(client, CHIPID), listen(client, OTHER)];
    await Promise.all([one.state('connected'), other.state('connected')]);
    const happens = async (): Promise<void> => {
      service.upload(OTHER, 'other');
      service.upload(CHIPID, 'one');
      await until(() => one.uploads.length + other.uploads.length === 2);
      await client.push(OTHER, 'other');
      await client.devices();
      await client.serverDevices();
      await client.push(CHIPID, 'one');
    };
    const lines = await recorded(client, happens, { chipids: [`0${CHIPID}`] });
    assert.ok(!JSON.stringify(lines).includes(OTHER));
    assert.equal(ofKind(lines, 'upload').length, 1);
    assert.deepEqual(
      ofKind(lines, 'call').map(({ path }) => path),
      ['dev/push/message/'],
    );
  });

  it('has an upload that was missed once, however many listeners recover it', async () => {
    const service = await simulator({ devices: 1 });
    const client = clientOf(service.baseUrl, { random: () => 0.01 });
    const bodies: string[] = [];
    const ready = new Set<number>();
    for (const number of [1, 2])
      client.listen(
        CHIPID,
        { onUpload: ({ body }) => bodies.push(body.toString()) },
        { zone: isPublic() ? '+00:00' : undefined, save: () => void ready.add(number) },
      );
    await until(() => ready.size === 2, 'both have a position');
    service.upload(CHIPID, 'live');
    await until(() => bodies.length === 2);
    const lines = await recorded(client, async () => {
      service.disconnect(CHIPID, { terminate: true });
      service.upload(CHIPID, 'missed');
      await until(() => bodies.length === 4, 'both have what was missed');
    });
    const uploads = ofKind(lines, 'upload');
    assert.deepEqual(
      uploads.map(({ body, replayed }) => [Buffer.from(body, 'base64').toString(), replayed]),
      [['missed', true]],
    );
  });

  it('is one at a time, never overwrites a file, and ends with the client', async () => {
    const service = await simulator({ devices: 1 });
    const client = clientOf(service.baseUrl);
    const taken = newPath();
    writeFileSync(taken, 'mine');
    await failure(client.record(taken), 'INVALID_INPUT');
    await failure(client.record(newPath(), { duration: 86_400_001 }), 'INVALID_INPUT');
    await failure(client.record(newPath(), { chipids: ['x'] }), 'INVALID_INPUT');
    assert.equal(readFileSync(taken, 'utf8'), 'mine');
    const path = newPath();
    const ended: RecordingState[] = [];
    const recording = await client.record(path, { onEnd: (state) => ended.push(state) });
    await failure(client.record(newPath()), 'INVALID_INPUT');
    await client.close();
    assert.deepEqual([recording.state.ended, ended.length], ['closed', 1]);
    assert.equal((await linesOf(path)).at(-1)?.kind, 'end');
    await failure(client.record(newPath()), 'UNREACHABLE');
  });

  it('ends when its time is over, and another can begin', async () => {
    const service = await simulator({ devices: 1 });
    const client = clientOf(service.baseUrl);
    const path = newPath();
    const recording = await client.record(path, { duration: 20 });
    await until(() => recording.state.ended !== undefined);
    await recording.stop();
    const end = (await linesOf(path)).at(-1)!;
    assert.deepEqual([end.kind, 'reason' in end && end.reason], ['end', 'duration']);
    await (await client.record(newPath())).stop();
  });
});
