import assert from 'node:assert/strict';
import { readTests } from '../../../flow-test/tests';
import { TestRecorder } from '../../../src/fleet/test-recorder';
import type { Upload } from '../../../src/types';
import { KEYS, simulated } from '../support/client';
import { failure } from '../support/failure';
import { until } from '../../tooling/until';
import type { UnsignedRequest } from '../../../src/protocol/call-spec';

const ONE = '10000001';
const TWO = '10000002';
const BIG = '18446744073709551615';
const SECRET = 'Secret-Of-The-App';

const uploadOf = (body: string | Buffer, chipid = ONE): Upload => ({
  ...{ chipid, appid: '1', timestamp: 0 },
  body: Buffer.from(body),
});
const called = (
  path: string,
  params: Record<string, string> = {},
  method: 'GET' | 'POST' = 'POST',
): UnsignedRequest => ({ method, path, params });

/** @param clock in ms, since a pause is a part of what is recorded */
function recorded(
  record: (recorder: TestRecorder) => void,
  chipids?: string[],
  clock: () => number = () => 0,
) {
  const { now } = performance;
  performance.now = clock;
  const recorder = new TestRecorder(chipids, [SECRET, 'x']);
  try {
    record(recorder);
    recorder.end();
  } finally {
    performance.now = now;
  }
  const yaml = recorder.toYaml();
  const [test] = readTests(yaml, 'recorded.yaml');
  assert.ok(test);
  return { ...test, yaml, recorder };
}

describe('a recorded test', () => {
  it('gives the uploads as they were, and expects pins and pushes once each', () => {
    const { given, expect } = recorded((recorder) => {
      recorder.onLive(uploadOf('{"t":21}'));
      recorder.onLive(uploadOf('{ "t": 21 }'));
      recorder.onLive(uploadOf('2016-01-01', BIG));
      recorder.onLive(uploadOf(Buffer.from([0xff, 0])));
      recorder.onAnswered(called(`set_gpio_edge/${ONE}/5/1/`));
      recorder.onAnswered(called(`set_gpio_edge/${ONE}/5/1/`));
      recorder.onAnswered(called(`set_gpio_edge/${ONE}/16/1/`));
      recorder.onAnswered(called(`gpio_status/${ONE}/`, {}, 'GET'));
      recorder.onAnswered(
        called('dev/push/message/', { devid: ONE, message: '{"on":true}', format: 'MSG' }),
      );
      recorder.onAnswered(
        called('dev/push/message/', { devid: ONE, message: '6869', format: 'HEX' }),
      );
      recorder.onAnswered(called('app/push/message/', { message: 'all', format: 'MSG' }));
      recorder.onPush(BIG, Buffer.from('hello'));
      recorder.onPush(BIG, Buffer.from([0xff]));
    });
    assert.deepEqual(given, [
      { kind: 'upload', chipid: ONE, payload: { t: 21 } },
      { kind: 'upload', chipid: ONE, payload: '{ "t": 21 }' },
      { kind: 'upload', chipid: BIG, payload: '2016-01-01' },
      { kind: 'upload', chipid: ONE, payload: Buffer.from([0xff, 0]) },
    ]);
    assert.deepEqual(expect, [
      { kind: 'pin', chipid: ONE, pin: 5, level: 1 },
      { kind: 'pushed', chipid: ONE, match: '{"on":true}' },
      { kind: 'pushed', chipid: ONE, match: 'hi' },
      { kind: 'pushed', chipid: ONE, match: 'all' },
      { kind: 'pushed', chipid: BIG, match: 'hello' },
      { kind: 'pushed', chipid: BIG, match: { any: true } },
    ]);
  });

  it('has the pauses between the uploads, and waits for what came long after the last', async () => {
    let clock = 0;
    const { given, expect } = recorded(
      (recorder) => {
        clock += 4000;
        recorder.onLive(uploadOf('1'));
        clock += 1500;
        recorder.onLive(uploadOf('2'));
        clock += 20_000;
        recorder.onPush(ONE, Buffer.from('late'));
      },
      undefined,
      () => clock,
    );
    assert.deepEqual(
      given.map((each) => (each.kind === 'wait' ? each.seconds : each.kind)),
      ['upload', 1.5, 'upload'],
    );
    assert.deepEqual(expect, [{ kind: 'pushed', chipid: ONE, match: 'late', within: 25 }]);
  });

  it('is of the chosen devices alone, and expects no error where the flow did nothing', () => {
    const { given, expect } = recorded(
      (recorder) => {
        recorder.onLive(uploadOf('1'));
        recorder.onLive(uploadOf('2', TWO));
        recorder.onPush(ONE, Buffer.from('x'));
        recorder.onAnswered(called(`set_gpio_edge/${ONE}/5/1/`));
      },
      [TWO],
    );
    assert.deepEqual(given, [{ kind: 'upload', chipid: TWO, payload: '2' }]);
    assert.deepEqual(expect, [{ kind: 'noError' }]);
  });

  it('has no key in it, even if a device uploads one or is pushed one', () => {
    const { yaml, given, expect } = recorded((recorder) => {
      recorder.onLive(uploadOf(JSON.stringify({ key: `a${SECRET}b`, x: 'x' })));
      recorder.onLive(uploadOf(Buffer.concat([Buffer.from([0xff]), Buffer.from(SECRET)])));
      recorder.onPush(ONE, Buffer.from(`AT+PUSH_DEF=1,${SECRET}`));
    });
    assert.ok(!yaml.includes(SECRET) && !yaml.includes(Buffer.from(SECRET).toString('base64')));
    assert.deepEqual(given[0], { kind: 'upload', chipid: ONE, payload: { key: 'a***b', x: 'x' } });
    assert.deepEqual(given[1], {
      ...{ kind: 'upload', chipid: ONE },
      payload: Buffer.from('\xff***', 'latin1'),
    });
    assert.deepEqual(expect, [{ kind: 'pushed', chipid: ONE, match: { any: true } }]);
  });

  it('ends at 1,000 uploads, and can be read whatever is in them', () => {
    const body = JSON.stringify({ wide: Array.from({ length: 200 }, (_, index) => index) });
    const deep = `${'['.repeat(90)}${']'.repeat(90)}`;
    const { given, recorder } = recorded((running) => {
      for (let index = 0; index < 1001; index++) {
        assert.equal(running.state.isOver, index === 1000);
        running.onLive(uploadOf(index === 1 ? deep : body));
      }
    });
    assert.equal(recorder.state.uploads, 1000);
    const uploads = given.filter(({ kind }) => kind === 'upload');
    assert.equal(uploads.length, 1000);
    assert.deepEqual(uploads[1], { kind: 'upload', chipid: ONE, payload: JSON.parse(deep) });
  });

  it('ends at 8 MiB of uploads and pushes', () => {
    const { given, recorder } = recorded((running) => {
      for (let index = 0; index < 3; index++)
        running.onLive(uploadOf(Buffer.alloc(3 * 2 ** 20, 'a')));
    });
    assert.equal(recorder.state.isOver, true);
    assert.equal(given.filter(({ kind }) => kind === 'upload').length, 2);
  });

  it('is recorded by a client: what its channels and calls carry, one recording at a time', async () => {
    const { service: cloud, client } = await simulated();
    const listener = client.listen(ONE, {
      // What a listener does with the bytes changes nothing.
      onUpload: ({ body }) => void body.fill(0),
    });
    await until(() => cloud.channels(ONE) === 1, 'the channel is open');
    const recorder = client.recordTest([1e7 + 1]);
    assert.throws(() => client.recordTest(), { code: 'INVALID_INPUT' });
    cloud.upload(ONE, 'warm');
    await until(() => recorder.state.uploads === 1, 'the upload has come');
    await client.setGpioEdge(ONE, 5, 1);
    cloud.fail('gateway', { chipid: ONE, path: 'set_gpio_edge', times: 1 });
    await failure(client.setGpioEdge(ONE, 6, 1), 'GATEWAY');
    await client.pushOverChannel(ONE, 'hello');
    await client.push(ONE, KEYS.appkey);
    listener.release();
    const ended = recorder.ended;
    await client.close();
    await ended;
    const yaml = recorder.toYaml();
    assert.ok(!yaml.includes(KEYS.appkey));
    const [test] = readTests(yaml, 'recorded.yaml');
    assert.deepEqual(test?.given, [{ kind: 'upload', chipid: ONE, payload: 'warm' }]);
    assert.deepEqual(test.expect, [
      { kind: 'pin', chipid: ONE, pin: 5, level: 1 },
      { kind: 'pushed', chipid: ONE, match: 'hello' },
      { kind: 'pushed', chipid: ONE, match: { any: true } },
    ]);
  });
});
