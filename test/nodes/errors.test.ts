import assert from 'node:assert/strict';
import { cloudApp, load, node } from './support/flow';
import { call, fail, post, send } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';
import { inEachDialect, isPublic } from '../tooling/dialect';

/* Which fault has which code, and that the next call works: see test/src/http. */

inEachDialect('an error of a node', () => {
  useNodeRed();
  const chipid = '10000001';

  it('is QUEUE_FULL for message 102 to one device, from any node', async () => {
    const cloud = await startWith(node('push'), node('reboot'));
    cloud.fail('hang', { chipid });
    for (let n = 0; n < 101; n++) post('push', { chipid, payload: n });
    const caught = await fail('reboot', { chipid, statusCode: 200 }, 'QUEUE_FULL');
    assert.match(caught.error.message, /^QUEUE_FULL: 100 .*10000001/);
    assert.ok(!('statusCode' in caught));
    await call('push', { chipid: '10000002', payload: 'to another device' });
    await until(() => cloud.requests.length === 2, 'the first is under way');
  });

  it('is UNAUTHORIZED for a wrong key of the open API and of the server API', async () => {
    const cloud = await startCloud();
    const wrong = { appkey: 'Another-Key', serverKey: 'x', serverPassword: 'Another-Password' };
    await load([cloudApp(cloud), node('devices'), node('server')], { app: wrong });
    const refused = await fail('devices', {}, 'UNAUTHORIZED');
    assert.equal(refused['statusCode'], isPublic() ? 400 : 401);
    assert.equal((await fail('server', {}, 'UNAUTHORIZED'))['statusCode'], 401);
    const { error } = await send('devices', {});
    assert.ok(!String(error).includes('Another-Key'));
  });
});
