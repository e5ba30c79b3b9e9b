import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { RecordingAnswer } from '../../../nodes/app/answers.config';
import { until } from '../../../tooling/until';
import { cloudApp, deploy, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call } from '../support/messages';
import { startCloud, useNodeRed } from '../support/node-red';

const DEVICE = '10000001';
const PATH = '/device-cloud/apps/app/recording';

interface Answered<T> {
  status: number;
  body: T;
  text: string;
  headers: Record<string, string>;
}

async function get<T>(path: string): Promise<Answered<T>> {
  const answer = await helper.request().get(path);
  journal.answers.push(answer.text);
  return answer as unknown as Answered<T>;
}

interface Said {
  ok?: true;
  running?: RecordingAnswer['running'];
  error?: { code: string; message: string };
}

async function post(body: object, path = PATH): Promise<Answered<Said>> {
  const answer = await helper.request().post(path).send(body);
  journal.answers.push(answer.text);
  return answer as unknown as Answered<Said>;
}

const read = async (): Promise<RecordingAnswer> => (await get<RecordingAnswer>(PATH)).body;

describe('recordings of an application', () => {
  useNodeRed();

  it('begin and end, are listed, and can be downloaded', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
    assert.deepEqual(await read(), { running: null, last: null, recordings: [] });
    const begun = await post({ action: 'start', minutes: 1, chipids: null, anonymous: false });
    assert.equal(begun.status, 200, begun.text);
    const { name, since, until: end, uploads } = begun.body.running!;
    assert.deepEqual([end - since, uploads], [60_000, 0]);
    await call('push', { chipid: DEVICE, payload: 'Canary-Message' });
    assert.equal((await post({ action: 'start' })).status, 409);
    assert.deepEqual((await post({ action: 'stop' })).body, { ok: true, running: null });
    const { running, last, recordings } = await read();
    assert.deepEqual(
      [running, last, recordings.map((file) => file.name)],
      [null, { name, reason: 'stopped', uploads: 0, dropped: 0 }, [name]],
    );
    const file = await get(`/device-cloud/apps/app/recordings/${name}`);
    assert.equal(file.status, 200);
    assert.match(file.headers['content-disposition']!, /^attachment; filename=/);
    assert.equal(Buffer.byteLength(file.text), recordings[0]!.bytes);
    const [first, ...lines] = file.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    assert.equal((first as { format: string }).format, 'device-cloud-recording');
    assert.ok(JSON.stringify(lines).includes('Canary-Message'));
    const audited = journal.logs.filter(({ level }) => level === 98);
    assert.equal(audited.length, 3);
    assert.ok(!JSON.stringify(audited).includes('Canary-Message'));
  });

  it('go on over a deploy of the nodes, and end with one of the application', async () => {
    const cloud = await startCloud();
    const app = cloudApp(cloud);
    await load([app, node('push')]);
    const { name } = (await post({ action: 'start' })).body.running!;
    await deploy([app, node('push', { format: 'HEX' })], 'nodes');
    assert.equal((await read()).running?.name, name);
    await call('push', { chipid: DEVICE, payload: '00' });
    await deploy([cloudApp(cloud, { timeout: 14 }), node('push', { format: 'HEX' })], 'nodes');
    const { running, recordings } = await read();
    assert.deepEqual([running, recordings.length], [null, 1]);
    const { text } = await get(`/device-cloud/apps/app/recordings/${name}`);
    assert.match(text, /"kind":"call".*\n.*"kind":"end","reason":"closed"/);
  });

  it('are refused with a reason for what is no request, and no path leads out of the folder', async () => {
    await load([cloudApp(await startCloud())]);
    for (const body of [
      ...[{}, { action: 'go' }, { action: 'start', minutes: 0 }, { action: 'start', minutes: '5' }],
      ...[
        { action: 'start', minutes: 1441 },
        { action: 'start', chipids: ['../x'] },
      ],
      ...[{ action: 'start', chipids: [] }, { action: 'start', anonymous: 'yes' }, []],
    ]) {
      const { status, body: said } = await post(body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(said.error?.code, 'INVALID_INPUT');
    }
    assert.equal(
      (await post({ action: 'start' }, '/device-cloud/apps/gone/recording')).status,
      404,
    );
    for (const name of [
      '..%2F..%2Fsettings.js',
      'x.jsonl',
      '__proto__',
      'app-20260101-000000-000.jsonl',
    ]) {
      assert.equal((await get(`/device-cloud/apps/app/recordings/${name}`)).status, 404, name);
    }
    assert.equal((await get('/device-cloud/apps/gone/recording')).status, 404);
    await until(async () => (await read()).running === null);
  });
});
