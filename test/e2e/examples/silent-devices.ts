import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { until } from '../../../tooling/until';
import { change, named } from './files';
import { listening, plays } from './scene';
import type { Stage } from './stage';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** The example that reports devices which have gone silent. */
export function silentDevices(stage: Stage): void {
  // The service's clock, which the test sets back and forth.
  let behind = 0;

  plays(
    stage,
    'Report silent devices',
    'names those that have not uploaded for hours, the longest silent first',
    async (scene) => {
      const { simulator } = scene;
      assert.equal(named(scene.nodes, 'Every morning at 08:00')['crontab'], '00 08 * * *');
      const upload = (chipid: string, ago: number): void => {
        behind = ago;
        simulator.upload(chipid, { temperature: 21 });
        behind = 0;
      };
      const report = async (button: string): Promise<unknown> => {
        const before = scene.shown('The report').length;
        await scene.press(button);
        return (await scene.waitShown('The report', before + 1)).at(-1);
      };
      const reports = (button: string, lines: string[]): Promise<void> =>
        until(async () => (await report(button)) === lines.join('\n'), `the report ${lines[0]}`);

      // Before anybody listens: the history has it.
      upload(ONE, 13 * HOUR);
      await listening(scene, 3);
      upload(TWO, 11 * HOUR);
      simulator.switchOff(ONE);
      await reports('Report now', [
        'Silent: 2 of 3 devices.',
        `${THREE}: no upload known (NO_VALUE)`,
        `${ONE} (Greenhouse): last upload 13 hours ago, not online`,
      ]);
      for (const chipid of [ONE, THREE]) upload(chipid, 0);
      // The button of the morning does what the clock does.
      await reports('Every morning at 08:00', ['Silent: 0 of 3 devices.']);
      upload(TWO, 5 * MINUTE);
      const silent = `${TWO} (Cold store): last upload 5 minutes ago, online`;
      await until(async () => {
        // On a slow machine, more than 20 s may have passed.
        for (const chipid of [ONE, THREE]) upload(chipid, 0);
        const text = await report('Report 20 s of silence');
        return text === ['Silent: 1 of 3 devices.', silent].join('\n');
      }, 'one is silent');

      const texts = [`${TWO} (Cold store) is silent.`, `${THREE} is silent.`];
      await until(
        () => scene.shown('Notification').some((text) => texts.includes(String(text))),
        'a notification says so',
      );

      await scene.press('Let 10000003 sleep');
      await scene.waitShown('The answer');
      await until(() => simulator.device(THREE).asleep, 'it sleeps');
    },
    {
      simulator: { now: () => Date.now() - behind },
      // Seconds of a person are too long for a test.
      alter: (nodes) => change(nodes, 'Who falls silent?', { refresh: '1', silence: '1' }),
    },
  );
}
