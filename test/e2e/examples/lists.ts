import assert from 'node:assert/strict';
import { DeviceCloudClient } from '../../../src';
import { ONE, THREE, TWO } from '../harness/fixture';
import { plays, playsOnBoth } from './scene';
import type { Stage } from './stage';

/** Examples that list devices and read what the service keeps. */
export function lists(stage: Stage): void {
  plays(
    stage,
    '08 Poll a pin of every device',
    'makes one table, with a row for a device that fails',
    async (scene) => {
      const { simulator } = scene;
      const { baseUrl, appid, appkey } = simulator;
      const client = new DeviceCloudClient({ baseUrl, appid, appkey });
      await client.setGpioEdge(TWO, 5, 1);
      await client.close();
      simulator.fail('gateway', { path: `gpio_status/${THREE}`, times: 1 });
      await scene.press('Read pin 5 of all');
      const [rows] = await scene.waitShown('The rows');
      assert.deepEqual(rows, [
        { chipid: ONE, name: 'Greenhouse', level: 0 },
        { chipid: TWO, name: 'Cold store', level: 1 },
        { chipid: THREE, name: 'no name', level: 'GATEWAY' },
      ]);
      const [table] = await scene.waitShown('The table');
      assert.equal(
        table,
        `Device | Name | Pin 5\n${ONE} | Greenhouse | 0\n${TWO} | Cold store | 1\n${THREE} | no name | GATEWAY\n`,
      );
    },
  );

  plays(stage, '13 List the devices', 'shows them without their keys', async (scene) => {
    scene.simulator.switchOff(TWO);
    await scene.press('List the devices');
    const [devices = []] = (await scene.waitShown('The devices')) as { chipid: number }[][];
    assert.deepEqual(
      devices.map((device) => Object.keys(device)),
      [1, 2].map(() => ['chipid', 'name', 'latest']),
    );
    assert.deepEqual(
      devices.map(({ chipid }) => String(chipid)),
      [ONE, THREE],
    );
    await scene.press('Read the application');
    const shown = await scene.waitShown('The application');
    assert.deepEqual(shown, [{ name: 'Simulator', online: 2 }]);
    assert.doesNotMatch(JSON.stringify([devices, shown]), /simulated|key/);
  });

  playsOnBoth(stage, '14 Read the history', 'reads it in all its ways', async (scene) => {
    const { simulator } = scene;
    simulator.upload(ONE, { temperature: 21.5 });
    simulator.upload(ONE, 'two');
    simulator.upload(TWO, 'of another device');
    // The order within a second is open on the public server.
    const inAnyOrder = (values: unknown[]): string[] =>
      values.map((value) => JSON.stringify(value)).sort();
    const bodies = (records: unknown): unknown[] =>
      (records as { body: unknown }[]).map(({ body }) => body);
    const assertSame = (shown: unknown[], expected: unknown[]): void => {
      if (scene.isPublic) assert.deepEqual(inAnyOrder(shown), inAnyOrder(expected));
      else assert.deepEqual(shown, expected);
    };

    await scene.press('All at once');
    const [all] = await scene.waitShown('The array of records');
    assertSame(bodies(all), ['{"temperature":21.5}', 'two']);
    await scene.press('One message each');
    assertSame(await scene.waitShown('Each upload', 2), [{ temperature: 21.5 }, 'two']);

    await scene.press('Only new ones');
    await scene.waitShown('What is new');
    simulator.upload(ONE, 'three');
    await scene.press('Only new ones');
    const fresh = await scene.waitShown('What is new', 2);
    const [before = [], after = []] = fresh.map(bodies);
    assertSame(before, ['{"temperature":21.5}', 'two']);
    assert.deepEqual(after, ['three']);

    await scene.press('Pushes');
    const [pushes] = await scene.waitShown('What was pushed');
    assert.deepEqual(bodies(pushes), [scene.isPublic ? '68656c6c6f' : 'hello']);
    await scene.press('Of all devices');
    const [synced] = await scene.waitShown('The uploads of all');
    assert.equal(bodies(synced).length, 4);
  });

  playsOnBoth(stage, '19 Use the server API', 'reads, changes and sends', async (scene) => {
    const { simulator } = scene;
    simulator.upload(TWO, 'hello');
    await scene.press('Which devices?');
    const [list] = (await scene.waitShown('The answer')) as {
      devices: (string | { chipid: string })[];
    }[];
    const chipids = list?.devices.map((each) => (typeof each === 'string' ? each : each.chipid));
    assert.deepEqual(chipids, [ONE, TWO, THREE]);
    await scene.press('Name it "Glasshouse"');
    await scene.waitShown('What came of it');
    assert.equal(simulator.device(ONE).name, 'Glasshouse');
    await scene.press('What of 10000001?');
    const [, device] = (await scene.waitShown('The answer', 2)) as { name?: string }[];
    assert.equal(device?.name, 'Glasshouse');
    await scene.press('What was uploaded?');
    const [, , page] = (await scene.waitShown('The answer', 3)) as Record<string, unknown[]>[];
    assert.equal(page?.[scene.isPublic ? 'msgs' : 'messages']?.length, 1);
    for (const [i, button] of ['Disable 10000001', 'Enable 10000001 again'].entries()) {
      await scene.press(button);
      await scene.waitShown('What came of it', i + 2);
      assert.equal(simulator.device(ONE).disabled, i === 0);
    }
    await scene.press('Send data to 10000002');
    await scene.waitShown('That it is sent');
    assert.deepEqual(
      simulator.device(TWO).received.map(({ via, text }) => [via, text]),
      [['server-api', 'hello']],
    );
  });
}
