import assert from 'node:assert/strict';
import { node } from './support/flow';
import { call, fail } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('the reboot node', () => {
  useNodeRed();

  it('resets the device once and passes the answer on', async () => {
    const cloud = await startWith(node('reboot'));
    const msg = { chipid: 10000002, payload: 'old', topic: 't' };
    const { _msgid, ...out } = await call('reboot', msg);
    assert.ok(_msgid);
    const payload = { result: 'OK' };
    assert.deepEqual(out, { chipid: '10000002', payload, topic: 't', statusCode: 200 });
    await until(() => cloud.device('10000002').boots === 1, 'the device has booted');
    assert.equal(cloud.device('10000001').boots, 0);
    assert.equal(cloud.requests.length, 1);
    assert.equal(cloud.requests[0]?.path, '/openapi/reboot/dev/10000002/');
    assert.equal(cloud.requests[0].method, 'POST');
  });

  it('never repeats the call, even if it is unknown whether the device acted', async () => {
    const cloud = await startWith(node('reboot'));
    cloud.fail('gateway', { acts: true });
    const caught = await fail('reboot', { chipid: '10000001' }, 'GATEWAY');
    assert.match(caught.error.message, /502.*10000001.*"the gateway failed".*unknown/);
    assert.equal(caught['statusCode'], 502);
    assert.equal(cloud.requests.length, 1);
    await until(() => cloud.device('10000001').boots === 1, 'the device has booted');
  });
});
