import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { listening, plays } from './scene';
import type { Stage } from './stage';

interface Shown {
  payload: unknown;
  chipid: string;
}

/** Examples that receive uploads. */
export function uploads(stage: Stage): void {
  plays(stage, 'Receive uploads', 'shows each upload, and whose it is', async (scene) => {
    await listening(scene, 3);
    scene.simulator.upload(ONE, { temperature: 21.5 });
    await scene.waitShown('Each upload');
    scene.simulator.upload(TWO, 'plain text');
    await scene.waitShown('Each upload', 2);
    scene.simulator.upload(THREE, { temperature: -3 });
    const shown = (await scene.waitShown('Each upload', 3)) as Shown[];
    assert.deepEqual(
      shown.map(({ payload, chipid }) => [chipid, payload]),
      [
        [ONE, { temperature: 21.5 }],
        [TWO, 'plain text'],
        [THREE, { temperature: -3 }],
      ],
    );
    await scene.waitStatus('Temperature of 10000001', '21.5');
    await scene.waitStatus('Temperature of 10000003', '-3');
  });

  plays(
    stage,
    'Choose devices while running',
    'listens to whom the messages say, and to nobody else',
    async (scene) => {
      const { simulator } = scene;
      const ask = async (count: number): Promise<unknown> => {
        await scene.press('Ask whose uploads come');
        return (await scene.waitShown('Whose uploads come', count)).at(-1);
      };
      assert.deepEqual(await ask(1), []);
      assert.equal(simulator.channels(), 0);
      await scene.press('Subscribe to two devices');
      await listening(scene, 2);
      assert.deepEqual(await ask(2), [ONE, TWO]);

      await scene.press('Unsubscribe from 10000002');
      await listening(scene, 1);
      simulator.upload(TWO, 'is not listened to');
      simulator.upload(ONE, 'is listened to');
      const [shown] = (await scene.waitShown('Each upload')) as Shown[];
      assert.deepEqual([shown?.chipid, shown?.payload], [ONE, 'is listened to']);

      await scene.press('Subscribe to all');
      await listening(scene, 3);
      assert.deepEqual(((await ask(3)) as string[]).sort(), [ONE, TWO, THREE]);
      assert.equal(scene.shown('Each upload').length, 1);
    },
  );
}
