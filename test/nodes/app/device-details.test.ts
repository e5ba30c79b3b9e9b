import assert from 'node:assert/strict';
import type { DeviceDetails, FleetAnswer } from '../../../nodes/app/answers.config';
import type { Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { call, fail } from '../support/messages';
import { ask, read, withoutPermission } from '../support/routes';
import { startCloud, useNodeRed } from '../support/node-red';

const DEVICE = '10000001';

const details = (): Promise<DeviceDetails> => read(`apps/app/devices/0${DEVICE}`);
const fleet = (): Promise<FleetAnswer> => read('apps/app/fleet');

/** What the user of the requests lacks. */
let lacking = '';

describe('what a device did of late, for the editor', () => {
  useNodeRed();
  let cloud: Simulator;

  async function start(): Promise<void> {
    cloud = await startCloud();
    const listen = node('listen', { devices: 'list', chipids: [DEVICE] });
    await load([cloudApp(cloud), listen, node('push'), node('gpio')], undefined, [
      withoutPermission(() => lacking),
    ]);
    await until(() => cloud.channels(DEVICE) > 0, 'the channel is open');
  }

  it('has the last uploads, shortened, and the last commands with their outcomes, and not what was pushed', async () => {
    await start();
    for (let count = 0; count < 25; count++) cloud.upload(DEVICE, { count });
    cloud.upload(DEVICE, 'long '.repeat(1000));
    await call('push', { chipid: DEVICE, payload: 'Canary-Message' });
    await call('gpio', { chipid: DEVICE, pin: 4, payload: 1 });
    cloud.fail('unauthorized');
    await fail('push', { chipid: DEVICE, payload: 'x' }, 'UNAUTHORIZED');
    await until(async () => (await details()).uploads?.[0]?.size === 5000, 'all have come');
    const { uploads = [], commands, latest = '', lastError } = await details();
    assert.equal(uploads.length, 20);
    assert.equal(uploads[0]?.text.length, 200);
    assert.equal(uploads[1]?.text, '{"count":24}');
    assert.equal(latest.length, 100);
    assert.equal((await fleet()).devices[0]?.latest, latest);
    assert.deepEqual(
      commands.map(({ kind, pin, level, outcome }) => [kind, pin, level, outcome]),
      [
        ['push', undefined, undefined, 'UNAUTHORIZED'],
        ['gpio', 4, 1, 'OK'],
        ['push', undefined, undefined, 'OK'],
      ],
    );
    assert.equal(commands[0]?.message, lastError?.message);
    const text = JSON.stringify([await details(), await fleet()]);
    assert.doesNotMatch(text, /Canary|127\.0\.0\.1|devkey|sign=/);
  });

  it('withholds bodies from a user who may not read flows', async () => {
    await start();
    cloud.upload(DEVICE, 'Canary-Upload');
    await until(async () => (await details()).uploads?.length === 1, 'it has come');
    await call('push', { chipid: DEVICE, payload: 'x' });
    lacking = 'flows.read';
    try {
      const found = await details();
      assert.ok(!('uploads' in found) && !('latest' in found));
      assert.equal(found.commands.length, 1);
      const { devices } = await fleet();
      assert.equal(devices.length > 0, true);
      assert.ok(!JSON.stringify([found, devices]).includes('Canary'));
    } finally {
      lacking = '';
    }
  });

  it('is of a device that is known, and of a chip number', async () => {
    await start();
    for (const [chipid, expected, code] of [
      ['777', 404, 'NO_VALUE'],
      ['..%2fx', 400, 'INVALID_INPUT'],
    ] as const) {
      const { status, body } = await ask(`apps/app/devices/${chipid}`);
      assert.deepEqual([status, body.error.code], [expected, code]);
    }
  });
});
