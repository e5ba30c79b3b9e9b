import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../src/errors';
import { clientOf, simulator } from '../support/client';
import { failure } from '../support/failure';
import { nextState } from '../support/listener';

// Section 7 can be read either way: the application "has been deleted", or its information "does not exist".
const READINGS: [status: 401 | 404, code: ErrorCode][] = [
  [401, 'UNAUTHORIZED'],
  [404, 'NOT_FOUND'],
];

describe('an appid that the service does not know', () => {
  for (const [status, code] of READINGS) {
    it(`is ${code} where the service answers ${status}, and the channel says so`, async () => {
      const service = await simulator({ unknownApp: status });
      const client = clientOf(service.baseUrl, { appid: '99999' });
      for (const call of [client.app(), client.devices(), client.push(10000001, 'x')]) {
        const { statusCode, message } = await failure(call, code);
        assert.equal(statusCode, status);
        assert.match(message, /there is no such application/);
      }
      assert.equal((await nextState(client, 'disconnected')).reason, String(status));
    });
  }
});
