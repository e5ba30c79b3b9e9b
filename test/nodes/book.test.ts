import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';
import type { AppNode } from '../../nodes/app/deployed';
import { cloudApp, load, node } from './support/flow';
import { arrivedAt, call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('nodes and the device book', () => {
  useNodeRed();
  let path: string;
  let cloud: Simulator;
  const write = (...rows: string[]): void =>
    writeFileSync(path, ['chipid,name,groups,type,Site', ...rows, ''].join('\n'));
  const row = (chipid: string, name: string, ...groups: string[]) => ({
    ...{ chipid, name, groups, type: 'meter', Site: 'Wien' },
  });

  /** The file that was written has been read. */
  const hasOne = (): Promise<void> => {
    const { app } = helper.getNode('app') as AppNode;
    return until(() => app.fleet?.book?.file.devices.size === 1, 'the file was read');
  };

  beforeEach(async () => {
    const devices = ['1', '2', '3'].map((chipid) => ({ chipid, name: `Listed ${chipid}` }));
    cloud = await startCloud({ devices });
    path = join(temporaryFolder('nodes-book'), 'devices.csv');
    write('1,Gate,pumps;north,meter,Wien', '2,Door,pumps,meter,Wien');
  });

  it('name the device and give its row, unless the message has them', async () => {
    await load([
      cloudApp(cloud, { book: path }),
      node('reboot', { chipid: 'chipid', chipidType: 'msg' }),
    ]);
    const message = await call('reboot', { chipid: '1' });
    assert.deepEqual(
      [message['name'], message['device']],
      ['Gate', row('1', 'Gate', 'pumps', 'north')],
    );
    const own = await call('reboot', { chipid: '1', name: 'own', device: 'own' });
    assert.deepEqual([own['name'], own['device']], ['own', 'own']);
    const without = await call('reboot', { chipid: '3' });
    assert.equal('device' in without, false);
    // That of an earlier device is not the message's own.
    const next = await call('reboot', { ...message, _msgid: 'next', chipid: '2' });
    assert.deepEqual([next['name'], next['device']], ['Door', row('2', 'Door', 'pumps')]);
    const last = await call('reboot', { ...next, _msgid: 'last', chipid: '3' });
    assert.deepEqual([last['name'], last['device']], [undefined, undefined]);
    const changed = { ...row('2', 'Door', 'pumps'), Site: 'Graz' };
    const kept = await call('reboot', { chipid: '1', device: changed });
    assert.deepEqual(kept['device'], changed);
  });

  it('call all devices of a group, and send nothing to a group without devices', async () => {
    await load([
      cloudApp(cloud, { book: path }),
      node('gpio', {
        chipid: 'pumps',
        chipidType: 'group',
        pin: '5',
        pinType: 'num',
        level: '1',
        levelType: 'num',
      }),
    ]);
    const { payload } = await call('gpio', {});
    assert.deepEqual(
      (payload as { chipid: string; ok: boolean }[]).map(({ chipid, ok }) => [chipid, ok]),
      [
        ['1', true],
        ['2', true],
      ],
    );
    write('3,Pump,south,,');
    await hasOne();
    const sent = cloud.requests.length;
    const { error } = await fail('gpio', {}, 'INVALID_INPUT');
    assert.match(error.message, /No device of the device book is in the group "pumps"/);
    assert.equal(cloud.requests.length, sent);
  });

  it('keep a pin of each device of a group', async () => {
    await load([
      cloudApp(cloud, { book: path }),
      node('gpio', { operation: 'keep', chipid: 'pumps', chipidType: 'group' }),
    ]);
    await call('gpio', { pin: 5, payload: 'on' });
    const isKept = (chipid: string): boolean =>
      arrivedAt('out').some(({ payload, ...message }) => {
        const { state } = payload as { state: string };
        return message['chipid'] === chipid && state === 'kept';
      });
    await until(() => ['1', '2'].every(isKept), 'the pin of both is kept');
    assert.deepEqual([cloud.device('1').levels[5], cloud.device('2').levels[5]], ['1', '1']);
    write('3,Pump,south,,');
    await hasOne();
    const { error } = await fail('gpio', { pin: 5, payload: 1 }, 'INVALID_INPUT');
    assert.match(error.message, /No device of the device book is in the group "pumps"/);
    // What the devices keep that have left it can be ended all the same.
    await call('gpio', { pin: 5, payload: null });
    const ended = (): unknown[] =>
      arrivedAt('out')
        .filter(({ payload }) => (payload as { state: string }).state === 'ended')
        .map(({ chipid }) => chipid);
    await until(() => ended().length === 2, 'both have ended');
    assert.deepEqual(ended().sort(), ['1', '2']);
    await fail('gpio', { pin: 5, payload: null }, 'INVALID_INPUT');
  });

  it('follow a group: a listener joins and leaves devices as the book changes', async () => {
    await load([
      cloudApp(cloud, { book: path }),
      node('listen', { devices: 'group', group: 'north' }),
    ]);
    await until(() => cloud.channels('1') === 1, 'the device of the group is listened to');
    cloud.upload('1', 'hello');
    const message = await until(
      () => arrivedAt('out').find(({ payload }) => payload === 'hello'),
      'the upload came',
    );
    assert.deepEqual(
      [message['name'], message['device']],
      ['Gate', row('1', 'Gate', 'pumps', 'north')],
    );
    write('1,Gate,north,,', '2,Door,north,,');
    await until(() => cloud.channels('2') === 1, 'the new device is listened to');
    write('2,Door,north,,');
    await until(() => cloud.channels('1') === 0, 'the device that left is not');
    assert.equal(cloud.channels('2'), 1);
  });
});
