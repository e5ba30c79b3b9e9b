import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTests } from '../../../flow-test/tests';
import { RecordingError } from '../../../src/recording/read';
import { testFromRecording } from '../../../src/recording/to-test';
import { temporaryFolder } from '../../../tooling/temporary-folder';

const path = join(temporaryFolder('to-test'), 'recording.jsonl');
const BIG = '18446744073709551615';

const base64 = (body: string | Buffer): string => Buffer.from(body).toString('base64');
const upload = (body: string | Buffer, chipid = '10000001'): object => ({
  ...{ t: 0, kind: 'upload', chipid, timestamp: 0, body: base64(body) },
});
const called = (path: string, more: object): object => ({
  ...{ t: 0, kind: 'call', method: 'POST', path, chipid: '10000001', ms: 1, status: 200 },
  ...{ params: {}, ...more },
});

async function madeOf(...lines: object[]): Promise<string> {
  const header = { format: 'device-cloud-recording', version: 1, started: 0, anonymous: false };
  writeFileSync(path, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return testFromRecording(path);
}

describe('a test that is made of a recording', () => {
  it('gives the uploads as they were, and expects pins and pushes', async () => {
    const text = await madeOf(
      upload('{"t":21}'),
      upload('{ "t": 21 }'),
      upload('2016-01-01', BIG),
      upload(Buffer.from([0xff, 0])),
      called('set_gpio_edge/10000001/5/1/', {}),
      called('set_gpio_edge/10000001/5/1/', {}),
      called('set_gpio_edge/10000001/6/1/', { code: 'GATEWAY', status: 502 }),
      called('dev/push/message/', {
        params: { devid: '10000001', message: '{"on":true}', format: 'TEXT' },
      }),
      called('dev/push/message/', { params: { message: base64('as bytes'), format: 'B64' } }),
      { t: 0, kind: 'push', chipid: BIG, body: base64('hello') },
      { t: 0, kind: 'end', reason: 'stopped', uploads: 4, dropped: 0 },
    );
    const [test] = readTests(text, 'made.yaml');
    const chipid = '10000001';
    assert.deepEqual(test?.given, [
      { kind: 'upload', chipid, payload: { t: 21 } },
      { kind: 'upload', chipid, payload: '{ "t": 21 }' },
      { kind: 'upload', chipid: BIG, payload: '2016-01-01' },
      { kind: 'upload', chipid, payload: new Uint8Array([0xff, 0]) },
    ]);
    assert.deepEqual(test?.expect, [
      { kind: 'some', sight: { kind: 'pin', chipid, pin: 5, level: 1 }, within: 5 },
      { kind: 'some', sight: { kind: 'pushed', chipid, match: { on: true } }, within: 5 },
      { kind: 'some', sight: { kind: 'pushed', chipid, match: 'as bytes' }, within: 5 },
      { kind: 'some', sight: { kind: 'pushed', chipid: BIG, match: 'hello' }, within: 5 },
    ]);
    assert.doesNotMatch(text, /It is cut/);
  });

  it('expects no error where the flow did nothing', async () => {
    const [test] = readTests(await madeOf(upload('1')), 'made.yaml');
    assert.deepEqual(test?.expect, [{ kind: 'noError' }]);
  });

  it('is cut where it becomes too long, and says so', async () => {
    const many = await madeOf(...Array.from({ length: 301 }, (_, index) => upload(`${index}`)));
    assert.equal(readTests(many, 'made.yaml')[0]?.given.length, 300);
    assert.match(many, /^# It is cut/m);
    const large = await madeOf(...Array.from({ length: 99 }, () => upload('x'.repeat(20_000))));
    assert.ok(large.length < 300_000, String(large.length));
    assert.match(large, /^# It is cut/m);
  });

  it('is not made of what is no recording', async () => {
    writeFileSync(path, 'chipid,payload\n');
    await assert.rejects(testFromRecording(path), RecordingError);
  });
});
