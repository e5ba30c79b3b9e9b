import assert from 'node:assert/strict';
import { THREE, TWO } from '../harness/fixture';
import { named } from './files';
import { plays, requestsOf } from './scene';
import type { Stage } from './stage';
import { until } from '../../../tooling/until';

/** The example that tells who goes offline. */
export function presence(stage: Stage): void {
  plays(
    stage,
    'Know when a device goes offline',
    'notifies of a device that drops out and comes back, and repeats nothing after a deploy',
    async (scene) => {
      const { simulator } = scene;
      await scene.waitStatus('Who comes and goes?', '3/3');
      await scene.press('Let 10000003 drop out for 20 s');
      const [offline] = await scene.waitShown('Notification');
      assert.match(String(offline), new RegExp(`^${THREE} is offline since \\d`));
      simulator.wake(THREE);
      const [, online] = await scene.waitShown('Notification', 2);
      assert.equal(online, `${THREE} is online again.`);
      assert.equal(simulator.device(THREE).online, true);
      simulator.sleep(TWO);
      const third = (await scene.waitShown('Notification', 3)).at(-1);
      assert.match(String(third), /^Cold store \(10000002\) is offline since/);
      await scene.again();
      const before = requestsOf(scene, 'devices/list').length;
      const readings = (): number => requestsOf(scene, 'devices/list').length - before;
      await until(() => readings() >= 3, 'the list is read again');
      assert.equal(scene.shown('Notification').length, 3);
    },
    {
      // Seconds of a person are too long for a test.
      alter: (nodes) => {
        named(nodes, 'Who comes and goes?')['refresh'] = '1';
        const button = named(nodes, 'Let 10000003 drop out for 20 s');
        assert.equal(button['payload'], '{"sleep":20}');
        // Until the test has seen that it is gone.
        button['payload'] = '{"sleep":600}';
        return nodes;
      },
    },
  );
}
