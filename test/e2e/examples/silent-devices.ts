import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { named } from './files';
import { plays } from './scene';
import type { Stage } from './stage';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The example that reports devices which have gone silent. */
export function silentDevices(stage: Stage): void {
  // The service's clock, which the test sets back and forth.
  let behind = 0;

  plays(
    stage,
    '17 Report silent devices',
    'names those that have not uploaded for hours, the longest silent first',
    async (scene) => {
      const { simulator } = scene;
      assert.equal(named(scene.nodes, 'Every morning at 08:00')['crontab'], '00 08 * * *');
      const upload = (chipid: string, ago: number): void => {
        behind = ago;
        simulator.upload(chipid, { temperature: 21 });
        behind = 0;
      };
      const report = async (button: string, count: number): Promise<unknown> => {
        await scene.press(button);
        return (await scene.waitShown('Show the report', count)).at(-1);
      };
      upload(TWO, 40 * HOUR);
      upload(ONE, 13 * HOUR);
      upload(TWO, 11 * HOUR);
      simulator.switchOff(ONE);
      assert.equal(
        await report('Report now', 1),
        [
          'Silent: 2 of 3 devices.',
          `${THREE}: no upload in seven days, online`,
          `${ONE}: last upload 13 hours ago, not online`,
        ].join('\n'),
      );
      for (const chipid of [ONE, THREE]) upload(chipid, 0);
      // The button of the morning does what the clock does.
      assert.equal(await report('Every morning at 08:00', 2), 'Silent: 0 of 3 devices.');
      upload(TWO, 5 * MINUTE);
      assert.equal(
        await report('Report 20 s of silence', 3),
        `Silent: 1 of 3 devices.\n${TWO} (Cold store): last upload 5 minutes ago, online`,
      );

      await scene.press('Switch 10000003 off');
      await scene.waitShown('Show the answer');
      assert.equal(simulator.device(THREE).disabled, true);
      await scene.press('Switch 10000003 on again');
      await scene.waitShown('Show the answer', 2);
      assert.equal(simulator.device(THREE).disabled, false);
    },
    { simulator: { now: () => Date.now() - behind } },
  );
}
