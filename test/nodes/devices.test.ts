import assert from 'node:assert/strict';
import type { AppRecord, DeviceRecord } from '../../src/types';
import { PUBLIC_DIALECT } from '../tooling/dialect';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

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

  it('keeps the digits of chip numbers that no JavaScript number can hold', async () => {
    const cloud = await startCloud({ devices: [{ chipid: '12345678901234567890' }] });
    await load([cloudApp(cloud), node('devices')]);
    const [record] = (await call('devices', {})).payload as DeviceRecord[];
    assert.equal(record?.chipid, '12345678901234567890');
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

  it('finds the address of the list that answers, and remembers it', async () => {
    const cloud = await startCloud({ dialect: PUBLIC_DIALECT });
    await load([cloudApp(cloud), node('devices')]);
    for (let time = 0; time < 3; time++) {
      assert.equal(((await call('devices', {})).payload as unknown[]).length, 3);
    }
    assert.deepEqual(
      cloud.requests.map(({ path }) => path.slice('/openapi/'.length)),
      ['devices/list/', 'devices/lists/', 'devices/lists/', 'devices/lists/'],
    );
  });

  it('outputs an empty list if no device is online', async () => {
    const cloud = await startCloud({ devices: 0 });
    await load([cloudApp(cloud), node('devices')]);
    assert.deepEqual((await call('devices', {})).payload, []);
  });

  it('retries when the service fails for a moment, freshly signed each time', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('devices')]);
    cloud.fail('gateway', { times: 1 });
    cloud.fail('reset', { times: 1 });
    assert.equal(((await call('devices', {})).payload as unknown[]).length, 3);
    assert.equal(cloud.requests.length, 3);
    cloud.fail('server-error');
    const caught = await fail('devices', {}, 'SERVER_ERROR');
    assert.equal(caught['statusCode'], 500);
    assert.equal(cloud.requests.length, 6);
  });

  it('fails with a clear error if the service refuses the application', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('devices', { operation: 'app' })]);
    cloud.fail('unauthorized');
    const caught = await fail('devices', {}, 'UNAUTHORIZED');
    assert.equal(caught['statusCode'], 401);
  });
});
