import assert from 'node:assert/strict';
import { readFrame } from '../../src/upload-event';

const CHIPID = '10000001';
const event = {
  type: 'data_upload',
  appid: '10001',
  chipid: CHIPID,
  timestamp: '1700000000',
  body: 'AP8=',
};
const read = (changed: Record<string, unknown>) =>
  readFrame(JSON.stringify({ ...event, ...changed }), CHIPID);

describe('a frame of the channel (section 6)', () => {
  it('is an upload with its bytes and its time in milliseconds', () => {
    assert.deepEqual(read({}), {
      upload: {
        chipid: CHIPID,
        appid: '10001',
        timestamp: 1_700_000_000_000,
        body: Buffer.from([0, 255]),
      },
    });
  });

  const times: [timestamp: unknown, ms: number][] = [
    ['1700000000', 1_700_000_000_000],
    ['1700000000123', 1_700_000_000_123],
    [1700000000, 1_700_000_000_000],
    [1700000000123, 1_700_000_000_123],
    ['0', 0],
  ];
  for (const [timestamp, ms] of times) {
    it(`has the time ${JSON.stringify(timestamp)} in seconds or milliseconds`, () => {
      const frame = read({ timestamp });
      assert.equal('upload' in frame && frame.upload.timestamp, ms);
    });
  }

  it('is of the very device that a number names, however long', () => {
    const of = (digits: string) => JSON.stringify({ ...event, chipid: 0 }).replace('0,', `${digits},`); // prettier-ignore
    const long = '18446744073709551615';
    const frame = readFrame(of(long), long);
    assert.equal('upload' in frame && frame.upload.chipid, long);
    // What a JavaScript number would make of it.
    assert.ok('fault' in readFrame(of(long), '18446744073709552000'));
  });

  it('may bring nothing', () => {
    const frame = read({ body: '' });
    assert.equal('upload' in frame && frame.upload.body.length, 0);
  });

  for (const type of ['unknown_type', 'heartbeat', '']) {
    it(`is left out without a word if its type is ${JSON.stringify(type)}`, () => {
      assert.deepEqual(read({ type }), { ignored: true });
    });
  }

  const faults: [what: string, data: string, fault: RegExp][] = [
    ['no JSON', '{', /not JSON/],
    ['empty', '', /not JSON/],
    ['an array', '[]', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['without a type', '{}', /no type/],
    ['without anything but its type', '{"type":"data_upload"}', /no body/],
    ['of another device', JSON.stringify({ ...event, chipid: '99' }), /another device's/],
    ['without a chipid', JSON.stringify({ ...event, chipid: null }), /no chipid/],
    ['without an appid', JSON.stringify({ ...event, appid: {} }), /no appid/],
    ['with a body that is no text', JSON.stringify({ ...event, body: [1] }), /no body/],
    ['without Base64', JSON.stringify({ ...event, body: '~~' }), /not Base64/],
    ['without a time', JSON.stringify({ ...event, timestamp: null }), /no timestamp/],
    ['with words for a time', JSON.stringify({ ...event, timestamp: 'now' }), /no timestamp/],
    ['with a negative time', JSON.stringify({ ...event, timestamp: -1 }), /no timestamp/],
    ['with an endless time', JSON.stringify({ ...event, timestamp: '9'.repeat(400) }), /no time/],
  ];
  for (const [what, data, fault] of faults) {
    it(`is a fault if it is ${what}`, () => {
      const frame = readFrame(data, CHIPID);
      assert.match('fault' in frame ? frame.fault : '', fault);
    });
  }

  it('says nothing of what a device uploaded in its fault', () => {
    const frame = readFrame(JSON.stringify({ ...event, chipid: 'secret', body: 'QQ==' }), CHIPID);
    assert.doesNotMatch('fault' in frame ? frame.fault : 'secret', /secret|QQ==/);
  });
});
