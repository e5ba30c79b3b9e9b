import assert from 'node:assert/strict';
import { simulated } from '../support/client';
import { failure } from '../support/failure';
import { nextState } from '../support/listener';

describe('an appid that the service does not know', () => {
  it('is UNAUTHORIZED as section 7 has it for a deleted application, and the channel says so', async () => {
    const { client } = await simulated({}, { appid: '99999' });
    for (const call of [client.app(), client.devices(), client.push(10000001, 'x')]) {
      const { statusCode, message } = await failure(call, 'UNAUTHORIZED');
      assert.equal(statusCode, 401);
      assert.match(message, /there is no such application/);
    }
    assert.equal((await nextState(client, 'disconnected')).reason, '401');
  });
});
