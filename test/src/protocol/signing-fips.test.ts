import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { httpService, json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { clientOf } from '../support/client';
import { failure } from '../support/failure';

describe('a Node.js that makes no MD5 hashes, as in FIPS mode', () => {
  const usual = crypto.hash;
  before(() => {
    crypto.hash = ((algorithm: string, data: string) => {
      if (algorithm === 'md5')
        throw new Error('error:0308010C:digital envelope routines::unsupported');
      return usual(algorithm, data);
    }) as typeof crypto.hash;
  });
  after(() => {
    crypto.hash = usual;
  });

  it('is said by each call and by the channel, and nothing is sent', async () => {
    const service = await httpService(json({ msg: 'OK' }));
    const client = clientOf(service.baseUrl);
    for (const call of [client.push(1, 'x'), client.devices(), client.serverDevices()]) {
      const error = await failure(call, 'NOT_CONFIGURED');
      assert.match(error.message, /MD5.*FIPS/);
      assert.ok(!error.uncertain);
    }
    const faults: string[] = [];
    const joined = client.listen(1, { onFault: (fault) => faults.push(fault) });
    await until(() => joined.channel.reason !== undefined, 'the channel has tried to connect');
    assert.equal(joined.channel.reason, 'NOT_CONFIGURED');
    assert.match(faults[0] ?? '', /FIPS/);
    joined.release();
    assert.equal(service.requests.length, 0);
  });
});
