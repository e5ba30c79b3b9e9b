import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTests } from '../../flow-test/tests';
import type { RecordingAnswer } from '../../nodes/app/answers.config';
import { startSimulator, type Simulator } from '../../src/simulator';
import { app, node } from '../../tooling/node-red/nodes';
import { until } from '../../tooling/until';
import { ONE, TWO } from './harness/fixture';
import { around } from './harness/flows';
import { startNodeRed, type NodeRed } from './harness/node-red';
import { request } from './harness/request';

const flowOf = (application: ReturnType<typeof app>) => [
  application,
  ...around('listen', node('listen', { chipids: [ONE, TWO], datatype: 'utf8' })),
  ...around('gpio', node('gpio', { pin: '5', pinType: 'num' })),
];

describe('a recording of one Node-RED, played in another', () => {
  let service: Simulator;
  let first: NodeRed;
  let second: NodeRed | undefined;
  const route = (path: string): string => `${first.url}/device-cloud/apps/app/${path}`;
  const post = async (action: 'start' | 'stop'): Promise<RecordingAnswer> => {
    const response = await request(route('recording'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action }),
    });
    assert.equal(response.status, 200, await response.clone().text());
    return (await (await request(route('recording'))).json()) as RecordingAnswer;
  };
  /** What came of what, by device, in order. */
  const heard = async (red: NodeRed): Promise<unknown> => {
    const all = await red.results('listen', 'out');
    return [ONE, TWO].map((chipid) =>
      all.filter((msg) => msg['chipid'] === chipid).map(({ payload }) => payload),
    );
  };

  before(async () => {
    service = await startSimulator({ interval: 0, devices: 2 });
    first = await startNodeRed({ flows: flowOf(app(service)) });
    await until(() => service.channels() === 2, 'both channels are open');
  });
  after(async () => {
    await first.stop();
    await second?.stop();
    await service.close();
  });

  it('gives the same uploads and answers, says when it ends, and makes a test to start from', async () => {
    assert.ok((await post('start')).running);
    // Played, both channels have to be open by then.
    await sleep(2000);
    service.upload(ONE, 'warm');
    service.upload(TWO, 'cold');
    await first.waitFor('listen', 'out', 2);
    assert.equal((await first.ask('gpio', { chipid: ONE, payload: 1 })).error, undefined);
    service.fail('gateway', { chipid: TWO, path: 'set_gpio_edge', times: 1 });
    const failed = await first.ask('gpio', { chipid: TWO, payload: 1 });
    service.upload(ONE, 'cool');
    await first.waitFor('listen', 'out', 3);
    const { running, recordings } = await post('stop');
    assert.equal(running, null);
    const [recording] = recordings;
    assert.ok(recording);

    const text = await (await request(route(`recordings/${recording.name}`))).text();
    assert.equal(Buffer.byteLength(text), recording.bytes);
    const yaml = await request(route(`recordings/${recording.name}?as=test`));
    assert.equal(yaml.status, 200);
    assert.match(yaml.headers.get('content-disposition') ?? '', /\.yaml"?$/);
    const [test] = readTests(await yaml.text(), 'recorded.yaml');
    assert.deepEqual(
      test?.given.flatMap((each) => (each.kind === 'upload' ? [[each.chipid, each.payload]] : [])),
      [
        [ONE, 'warm'],
        [TWO, 'cold'],
        [ONE, 'cool'],
      ],
    );
    assert.ok(
      test?.expect.some((each) => each.kind === 'pin' && each.chipid === ONE && each.level === 1),
    );

    const expected = await heard(first);
    const { userDir } = (second = await startNodeRed());
    await writeFile(join(userDir, 'played.jsonl'), text);
    const played = { service: 'recording', recording: 'played.jsonl' } as const;
    await second.deploy(flowOf(app(service, played)));
    await second.logged(/The recording has ended: 3 uploads were played\./);
    await second.waitFor('listen', 'out', 3);
    assert.deepEqual(await heard(second), expected);
    assert.equal((await second.ask('gpio', { chipid: ONE, payload: 1 })).error, undefined);
    const again = await second.ask('gpio', { chipid: TWO, payload: 1 });
    assert.equal(again.error?.error?.code, failed.error?.error?.code);
    assert.equal(again.error?.error?.code, 'GATEWAY');
    assert.equal(service.device(ONE).sets.length, 1);
  });
});
