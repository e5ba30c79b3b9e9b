import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runner } from '../../flow-test/run';
import { readTests } from '../../flow-test/tests';
import { temporaryFolder } from '../../tooling/temporary-folder';
import { startRunner } from './support';

const folder = temporaryFolder('flow-test-recording');
const CHIPID = '77';
const started = 1_790_000_000_000;

function recordingOf(...bodies: readonly object[]): void {
  const header = { format: 'device-cloud-recording', version: 1, started };
  const lines = bodies.map((body, index) => ({
    ...{ t: index * 2000, kind: 'upload', chipid: CHIPID, timestamp: started + index * 2000 },
    body: Buffer.from(JSON.stringify(body)).toString('base64'),
  }));
  const text = [header, ...lines].map((line) => JSON.stringify(line)).join('\n');
  writeFileSync(join(folder, 'play.jsonl'), `${text}\n`);
}

const FLOWS = {
  ...{ file: 'flows.json', folder: '.' },
  nodes: [
    { id: 'tab', type: 'tab' },
    { id: 'app', type: 'device-cloud-app', name: 'App', appid: '', service: 'simulator' },
    {
      ...{ id: 'listen', z: 'tab', x: 1, y: 1, type: 'device-cloud-listen', app: 'app' },
      ...{
        devices: 'online',
        chipids: [],
        refresh: '60',
        datatype: 'auto-detect',
        recover: 'off',
        wires: [['end']],
      },
    },
    { id: 'end', z: 'tab', x: 1, y: 1, type: 'debug', name: 'End', active: false, wires: [] },
  ],
};

describe('a recording in a test', () => {
  let runner: Runner;
  before(() => void (runner = startRunner()));
  after(() => runner.close());

  const run = async (given: string, expect: string) => {
    const text = `{ name: a test, given: [${given}], expect: [${expect}] }`;
    const [test] = readTests(text, join(folder, 'test.yaml'));
    assert.ok(test);
    return runner.run(FLOWS, test);
  };

  it('is played to its end, with devices that the flows do not name, at its speed', async () => {
    recordingOf({ t: 21 }, { t: 22 });
    const { failures, details } = await run(
      '{ recording: { file: play.jsonl, speed: 10 } }',
      `{ message: { at: End, match: { chipid: '${CHIPID}', payload: { t: 21 } } } },
       { message: { at: End, match: { payload: { t: 22 } } } }, { message: { at: End, count: 2, within: 1 } }`,
    );
    assert.deepEqual(failures, [], details.join('\n'));
  });

  it('fails the test if the file is none', async () => {
    writeFileSync(join(folder, 'none.jsonl'), 'chipid,payload\n');
    const { failures } = await run('{ recording: none.jsonl }', '{ noError: true }');
    assert.match(failures.join(), /none\.jsonl is no recording/);
  });
});
