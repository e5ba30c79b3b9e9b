import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { until } from '../../../tooling/until';
import { listening, plays } from './scene';
import type { Stage } from './stage';

interface Shown {
  payload: unknown;
  chipid: string;
}

/** Examples that receive uploads. */
export function uploads(stage: Stage): void {
  plays(stage, '01 Receive uploads', 'shows each upload, and whose it is', async (scene) => {
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
    '03 Choose devices while running',
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

  plays(
    stage,
    '07 Switch a pin by a rule',
    'switches over 24 and under 23, and between the two leaves each device as it is',
    async (scene) => {
      const { simulator } = scene;
      const calls = (): string[] =>
        simulator.requests
          .map(({ path }) => /set_gpio_edge\/(.*)\/$/.exec(path)?.[1])
          .filter((call) => call !== undefined);
      /** Uploads one after the other; the last one is known to be over when a command comes. */
      const upload = async (chipid: string, ...temperatures: number[]): Promise<void> => {
        const before = calls().length;
        for (const temperature of temperatures) simulator.upload(chipid, { temperature });
        await until(() => calls().length > before, `${chipid} is switched`);
      };
      await listening(scene, 3);
      // Neither the thresholds themselves nor what is between them switch anything.
      await upload(ONE, 23, 23.5, 24, 24.1);
      assert.deepEqual(calls(), [`${ONE}/5/1`]);
      await until(() => simulator.device(ONE).levels[5] === '1', 'the pin is high');
      await upload(ONE, 25, 24, 23.5, 23, 22.9);
      assert.deepEqual(calls().slice(1), [`${ONE}/5/0`]);
      // The other device has a level of its own.
      await upload(TWO, 30);
      await upload(ONE, 22, 23.9, 24.1);
      assert.deepEqual(calls().slice(2), [`${TWO}/5/1`, `${ONE}/5/1`]);
      await until(() => simulator.device(TWO).levels[5] === '1', 'its pin is high');

      const heal = simulator.fail('gateway', { path: 'set_gpio_edge' });
      await upload(TWO, 20);
      const [problem] = (await scene.waitShown('What went wrong')) as { code: string }[];
      assert.equal(problem?.code, 'GATEWAY');
      heal();
      // What failed is forgotten, so that the same level is tried with the next upload.
      await upload(TWO, 20);
      await until(() => simulator.device(TWO).levels[5] === '0', 'the pin is low');

      await scene.waitShown('What was switched', 5);
      await scene.press('Every ten minutes, forget all');
      await upload(TWO, 20);
      assert.deepEqual(calls().slice(4), [`${TWO}/5/0`, `${TWO}/5/0`, `${TWO}/5/0`]);
    },
  );
}
