import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { playsOnBoth } from './scene';
import type { Stage } from './stage';

/** Examples that list devices and read what the service keeps. */
export function lists(stage: Stage): void {
  playsOnBoth(stage, 'Read the history', 'reads it in all its ways', async (scene) => {
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

  playsOnBoth(stage, 'Use the server API', 'reads, changes and sends', async (scene) => {
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
