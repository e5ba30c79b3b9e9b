import assert from 'node:assert/strict';
import * as library from '../../src';
import { DeviceCloudError, ERROR_CODES, invalidInput, isDeviceCloudError } from '../../src/errors';
import { errorCode } from '../../src/http/exchange';

describe('the error of this package', () => {
  it('has a code, and the status where there was an answer', () => {
    const error = new DeviceCloudError('NOT_FOUND', 'no device', 404);
    assert.deepEqual(
      [error.name, error.code, error.message, error.statusCode],
      ['DeviceCloudError', 'NOT_FOUND', 'no device', 404],
    );
    assert.ok(error instanceof Error);
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

  it('has the codes of the contract', () => {
    assert.deepEqual([...ERROR_CODES].sort(), [
      'BAD_REQUEST',
      'CONNECTION_LOST',
      'EXPIRED',
      'GATEWAY',
      'INVALID_INPUT',
      'INVALID_RESPONSE',
      'NOT_ACCEPTED',
      'NOT_CONFIGURED',
      'NOT_CONNECTED',
      'NOT_FOUND',
      'NO_REPLY',
      'NO_VALUE',
      'QUEUE_FULL',
      'REDIRECT',
      'SERVER_ERROR',
      'TIMEOUT',
      'UNAUTHORIZED',
      'UNEXPECTED_STATUS',
      'UNREACHABLE',
    ]);
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

describe('the library', () => {
  it('exports what its users need', () => {
    const names = [
      'DeviceCloudClient',
      'DeviceCloudError',
      'ERROR_CODES',
      'PUSH_FORMATS',
      'decodeUpload',
      'isDeviceCloudError',
      'signOpenApi',
      'signServerApi',
    ];
    for (const name of names) assert.ok(name in library, name);
  });
});
