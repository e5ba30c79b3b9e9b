import assert from 'node:assert/strict';
import { readFrame } from '../../../src/protocol/frames';

const CHIPID = '10000001';
const event = {
  type: 'data_upload',
  appid: '10001',
  chipid: CHIPID,
  timestamp: '1700000000',
  body: 'AP8=',
};
const ARRIVAL = 1_720_000_000_123;

const nameOf = (value: unknown): string => (JSON.stringify(value) || 'missing').slice(0, 20);
const readText = (text: string, chipid = CHIPID) =>
  readFrame(Buffer.from(text), { chipid, appid: '10001' }, () => ARRIVAL);
const read = (changed: Record<string, unknown>) =>
  readText(JSON.stringify({ ...event, ...changed }));

describe('a frame of the channel (section 6)', () => {
  it('is an upload with its bytes and its time in milliseconds', () => {
    assert.deepEqual(read({}), {
      upload: {
        chipid: CHIPID,
        appid: '10001',
        timestamp: 1_700_000_000_000,
        body: Buffer.from([0, 255]),
      },
      base64: 'AP8=',
      flaws: [],
    });
  });

  it('may begin with a byte order mark', () => {
    assert.deepEqual(readText(`\uFEFF${JSON.stringify(event)}`), read({}));
  });

  it('is an upload of the transparent serial mode, with its type', () => {
    const frame = read({ type: 'uart_trans' });
    assert.ok('upload' in frame);
    assert.deepEqual(frame.upload.body, Buffer.from([0, 255]));
    assert.equal(frame.upload.type, 'uart_trans');
    assert.ok('fault' in read({ type: 'uart_trans', body: 1 }));
  });

  const times: [timestamp: unknown, ms: number][] = [
    ['1700000000123', 1_700_000_000_123],
    [1700000000, 1_700_000_000_000],
    ['0', 0],
    ['99999999999', 99_999_999_999_000],
    ['100000000000', 100_000_000_000],
    [1700000000.5, 1_700_000_000_500],
    ['1700000000123.75', 1_700_000_000_124],
    ['01700000000', 1_700_000_000_000],
  ];
  for (const [timestamp, ms] of times) {
    it(`has the time ${JSON.stringify(timestamp)} in seconds or milliseconds`, () => {
      const frame = read({ timestamp });
      assert.ok('upload' in frame);
      assert.deepEqual([frame.upload.timestamp, frame.flaws], [ms, []]);
    });
  }

  const long = '9'.repeat(400);
  for (const timestamp of [null, undefined, '', -1, '1e4', long, 1e300, 1e14, '1.', [1], true]) {
    it(`has the time of its arrival if its own is ${nameOf(timestamp)}`, () => {
      const frame = read({ timestamp });
      assert.ok('upload' in frame);
      assert.deepEqual(frame.upload.body, Buffer.from([0, 255]));
      assert.equal(frame.upload.timestamp, ARRIVAL);
      assert.deepEqual(
        frame.flaws.map((flaw) => /no valid timestamp/.test(flaw)),
        [true],
      );
    });
  }

  for (const appid of [10002, '0010002']) {
    it(`names its application, ${JSON.stringify(appid)}, in digits`, () => {
      const frame = read({ appid });
      assert.ok('upload' in frame);
      assert.deepEqual([frame.upload.appid, frame.flaws], ['10002', []]);
    });
  }

  for (const appid of [null, undefined, 'app', 1.5, -1, 1e21, long]) {
    it(`belongs to the application of the channel if it names ${nameOf(appid)}`, () => {
      const frame = read({ appid });
      assert.ok('upload' in frame);
      assert.equal(frame.upload.appid, '10001');
      assert.deepEqual(
        frame.flaws.map((flaw) => /no valid appid/.test(flaw)),
        [true],
      );
    });
  }

  const sameDevice: [said: unknown, channel: string][] = [
    ['007', '7'],
    [7, '7'],
    ['000', '0'],
  ];
  for (const [chipid, channel] of sameDevice) {
    it(`of ${JSON.stringify(chipid)} belongs to the device ${channel} of the channel`, () => {
      const frame = readText(JSON.stringify({ ...event, chipid }), channel);
      assert.equal('upload' in frame && frame.upload.chipid, channel);
    });
  }

  it('is not an upload because of inherited properties', () => {
    const inherited = `{"__proto__":${JSON.stringify(event)},"constructor":{}}`;
    assert.ok('fault' in readText(inherited));
    const own = `{"__proto__":{"body":"QQ==","chipid":"9"},${JSON.stringify(event).slice(1)}`;
    const frame = readText(own);
    assert.deepEqual('upload' in frame && frame.upload.body, Buffer.from([0, 255]));
    assert.equal(({} as Record<string, unknown>)['body'], undefined);
  });

  it('keeps every digit of a long device number', () => {
    const of = (digits: string) =>
      JSON.stringify({ ...event, chipid: 0 }).replace('0,', `${digits},`);
    const digits = '18446744073709551615';
    const frame = readText(of(digits), digits);
    assert.equal('upload' in frame && frame.upload.chipid, digits);
    // What a JavaScript number would make of it.
    assert.ok('fault' in readText(of(digits), '18446744073709552000'));
  });

  for (const body of ['AP8', 'A\r\nP8=', 'AP-_\n']) {
    it(`is an upload with the body ${JSON.stringify(body)}, kept in strict Base64`, () => {
      const frame = read({ body });
      assert.ok('upload' in frame);
      const bytes = body.includes('-') ? [0, 255, 191] : [0, 255];
      assert.deepEqual([...frame.upload.body], bytes);
      assert.equal(frame.base64, Buffer.from(bytes).toString('base64'));
      assert.deepEqual(frame.flaws, []);
    });
  }

  it('is ignored if its type is unknown', () => {
    for (const type of ['heartbeat', '']) assert.deepEqual(read({ type }), { ignored: true });
  });

  const faults: [what: string, data: string, fault: RegExp][] = [
    ['no JSON', '{"type":"data_up', /not JSON/],
    ['cut short', '{', /too short/],
    ['empty', '', /not a JSON object/],
    ['white space', ' \t\r\n', /not a JSON object/],
    ['an array', '[]', /not a JSON object/],
    ['nothing', '{}', /too short/],
    ['without a type', '{"tape":"data_upload"}', /no type/],
    ['without anything but its type', '{"type":"data_upload"}', /no body/],
    ['of another device', JSON.stringify({ ...event, chipid: '99' }), /another device's/],
    ['without a chipid', JSON.stringify({ ...event, chipid: null }), /no valid chipid/],
    ['with a body that is no text', JSON.stringify({ ...event, body: [1] }), /no body/],
    ['without Base64', JSON.stringify({ ...event, body: '~~' }), /not Base64/],
  ];
  for (const [what, data, fault] of faults) {
    it(`is a fault if it is ${what}`, () => {
      const frame = readText(data);
      assert.match('fault' in frame ? frame.fault : '', fault);
    });
  }

  it('does not repeat uploaded data in its fault', () => {
    const frame = read({ chipid: 'secret', body: 'QQ==' });
    assert.doesNotMatch('fault' in frame ? frame.fault : 'secret', /secret|QQ==/);
  });
});
