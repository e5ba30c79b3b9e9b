import assert from 'node:assert/strict';
import {
  DeviceCloudError,
  ERROR_CODES,
  type ErrorCode,
  invalidInput,
  isDeviceCloudError,
  isSilence,
  isWorthRetry,
} from '../../src/errors';
import { errorCode } from '../../src/http/failures';

describe('the error of this package', () => {
  it('has a code, and the status where there was an answer', () => {
    const error = new DeviceCloudError('NOT_FOUND', 'no device', 404);
    assert.deepEqual(
      [error.name, error.code, error.message, error.statusCode],
      ['DeviceCloudError', 'NOT_FOUND', 'NOT_FOUND: no device', 404],
    );
    assert.ok(error instanceof Error);
    // Node-RED shows this.
    assert.equal(String(error), 'NOT_FOUND: no device');
    assert.ok(!('statusCode' in new DeviceCloudError('TIMEOUT', 'no answer')));
  });

  it('can be distinguished from others, also by its code', () => {
    const error = invalidInput('bad');
    assert.ok(isDeviceCloudError(error));
    assert.ok(isDeviceCloudError(error, 'TIMEOUT', 'INVALID_INPUT'));
    assert.ok(!isDeviceCloudError(error, 'TIMEOUT'));
    assert.ok(!isDeviceCloudError(Object.assign(new Error('x'), { code: 'INVALID_INPUT' })));
    assert.ok(!isDeviceCloudError(undefined));
  });

  it('has `uncertain` in JSON, also if it is not what the code usually means', () => {
    const json = (error: DeviceCloudError): unknown => JSON.parse(JSON.stringify(error));
    const [name, code] = ['DeviceCloudError', 'TIMEOUT'] as const;
    const sent = new DeviceCloudError(code, 'no answer');
    assert.deepEqual(json(sent), { name, code, uncertain: true });
    const unsent = new DeviceCloudError(code, 'no connection', undefined, false);
    assert.deepEqual(json(unsent), { name, code, uncertain: false });
    assert.equal({ ...sent }.uncertain, true);
  });

  it('says by its code what that means for a command, for a read and for the device', () => {
    const such = (is: (error: DeviceCloudError) => boolean): ErrorCode[] =>
      ERROR_CODES.filter((code) => is(new DeviceCloudError(code, ''))).sort();
    assert.deepEqual(
      such(({ uncertain }) => uncertain),
      [
        ...['CONNECTION_LOST', 'GATEWAY', 'INVALID_RESPONSE', 'NOT_ACCEPTED', 'NO_REPLY'],
        ...['SERVER_ERROR', 'TIMEOUT', 'UNEXPECTED_STATUS'],
      ],
    );
    const passing = ['CONNECTION_LOST', 'GATEWAY', 'SERVER_ERROR', 'UNREACHABLE'];
    assert.deepEqual(such(isWorthRetry), passing);
    assert.deepEqual(such(isSilence), ['CONNECTION_LOST', 'GATEWAY', 'TIMEOUT', 'UNREACHABLE']);
  });
});

describe('the reason of a broken connection', () => {
  const reasons: [what: string, error: unknown, code: string][] = [
    ['its code', Object.assign(new Error('http://x?sign=y'), { code: 'ECONNRESET' }), 'ECONNRESET'],
    ['its name without a code', new TypeError('http://x?sign=y'), 'TypeError'],
    [
      'the code of the first of several',
      new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })]),
      'ECONNREFUSED',
    ],
    ['not its text if it is no error', 'http://x?sign=y', 'unknown error'],
  ];
  for (const [what, error, code] of reasons) {
    it(`is ${what}`, () => assert.equal(errorCode(error), code));
  }
});
