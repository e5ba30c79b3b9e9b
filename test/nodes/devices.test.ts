import assert from 'node:assert/strict';
import type { AppRecord, DeviceRecord } from '../../src/types';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';

describe('the devices node', () => {
  useNodeRed();

  it('lists the records of the online devices', async () => {
    const cloud = await startCloud();
    cloud.switchOff('10000002');
    await load([cloudApp(cloud), node('devices')]);
    const out = await call('devices', { payload: 'old', topic: 't', chipid: 'kept' });
    const records = out.payload as DeviceRecord[];
    assert.deepEqual(
      records.map(({ chipid, name }) => [chipid, name]),
      [
        [10000001, 'Greenhouse'],
        [10000003, null],
      ],
    );
    assert.deepEqual(Object.keys(records[0]!).sort(), [
      'appid',
      'chipid',
      'devid',
      'devkey',
      'latest',
      'name',
      'vertype',
    ]);
    assert.equal(out['statusCode'], 200);
    assert.equal(out['chipid'], 'kept');
    assert.equal(out.topic, 't');
  });

  it('reads the record of the application', async () => {
    const cloud = await startCloud({ appName: 'Greenhouses', devices: 2 });
    await load([cloudApp(cloud), node('devices', { operation: 'app' })]);
    const out = await call('devices', {});
    const { name, online } = out.payload as AppRecord;
    assert.equal(name, 'Greenhouses');
    assert.equal(online.length, 2);
    assert.equal(out['statusCode'], 200);
    assert.equal(cloud.requests[0]?.path, '/openapi/apps/');
  });

  it('fails with a clear error if the service refuses the application', async () => {
    const cloud = await startWith(node('devices', { operation: 'app' }));
    cloud.fail('unauthorized');
    const caught = await fail('devices', {}, 'UNAUTHORIZED');
    assert.equal(caught['statusCode'], 401);
  });
});
