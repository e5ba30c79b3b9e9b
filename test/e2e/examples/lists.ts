import assert from 'node:assert/strict';
import { DeviceCloudClient } from '../../../src';
import { ONE, THREE, TWO } from '../harness/fixture';
import { plays } from './scene';
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
      const [rows] = await scene.waitShown('Show the rows');
      assert.deepEqual(rows, [
        { chipid: ONE, name: 'Greenhouse', level: 0 },
        { chipid: TWO, name: 'Cold store', level: 1 },
        { chipid: THREE, name: 'no name', level: 'GATEWAY' },
      ]);
      const [table] = await scene.waitShown('Show the table');
      assert.equal(
        table,
        `Device | Name | Pin 5\n${ONE} | Greenhouse | 0\n${TWO} | Cold store | 1\n${THREE} | no name | GATEWAY\n`,
      );
    },
  );

  plays(stage, '13 List the devices', 'shows them without their keys', async (scene) => {
    scene.simulator.switchOff(TWO);
    await scene.press('List the devices');
    const [devices = []] = (await scene.waitShown('Show the devices')) as { chipid: number }[][];
    assert.deepEqual(
      devices.map((device) => Object.keys(device)),
      [1, 2].map(() => ['chipid', 'name', 'latest']),
    );
    assert.deepEqual(
      devices.map(({ chipid }) => String(chipid)),
      [ONE, THREE],
    );
    await scene.press('Read the application');
    const shown = await scene.waitShown('Show the application');
    assert.deepEqual(shown, [{ name: 'Simulator', online: 2 }]);
    assert.doesNotMatch(JSON.stringify([devices, shown]), /simulated|key/);
  });

  plays(stage, '14 Read the history', 'reads it in all its ways', async (scene) => {
    const { simulator } = scene;
    simulator.upload(ONE, { temperature: 21.5 });
    simulator.upload(ONE, 'two');
    simulator.upload(TWO, 'of another device');
    const bodies = (records: unknown): unknown[] =>
      (records as { body: unknown }[]).map(({ body }) => body);

    await scene.press('All at once');
    const [all] = await scene.waitShown('Show the array of records');
    assert.deepEqual(bodies(all), ['{"temperature":21.5}', 'two']);
    await scene.press('One message each');
    assert.deepEqual(await scene.waitShown('Show each upload', 2), [{ temperature: 21.5 }, 'two']);

    await scene.press('Only new ones');
    await scene.waitShown('Show what is new');
    simulator.upload(ONE, 'three');
    await scene.press('Only new ones');
    const fresh = await scene.waitShown('Show what is new', 2);
    assert.deepEqual(fresh.map(bodies), [['{"temperature":21.5}', 'two'], ['three']]);

    await scene.press('What was pushed');
    const [pushes] = await scene.waitShown('Show the pushes');
    assert.deepEqual(bodies(pushes), ['hello']);
    await scene.press('Of all devices');
    const [synced] = await scene.waitShown('Show the uploads of all');
    assert.equal(bodies(synced).length, 4);
  });

  plays(stage, '19 Use the server API', 'reads, changes and sends', async (scene) => {
    const { simulator } = scene;
    simulator.upload(TWO, 'hello');
    await scene.press('Whose devices are there?');
    const [ids] = (await scene.waitShown('Show the answer')) as { devices: string[] }[];
    assert.deepEqual(ids?.devices, [ONE, TWO, THREE]);
    await scene.press('Call 10000001 "Glasshouse"');
    await scene.waitShown('Show what came of it');
    assert.equal(simulator.device(ONE).name, 'Glasshouse');
    await scene.press('What is known of 10000001?');
    const [, device] = (await scene.waitShown('Show the answer', 2)) as { name?: string }[];
    assert.equal(device?.name, 'Glasshouse');
    await scene.press('What has been uploaded?');
    const answers = (await scene.waitShown('Show the answer', 3)) as { messages?: unknown[] }[];
    assert.equal(answers[2]?.messages?.length, 1);
    for (const [i, button] of ['Disable 10000001', 'Enable 10000001 again'].entries()) {
      await scene.press(button);
      await scene.waitShown('Show what came of it', i + 2);
      assert.equal(simulator.device(ONE).disabled, i === 0);
    }
    await scene.press('Send data to 10000002');
    await scene.waitShown('Show that it is sent');
    assert.deepEqual(
      simulator.device(TWO).received.map(({ via, text }) => [via, text]),
      [['server-api', 'hello']],
    );
  });
}
