import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ONE, THREE, TWO } from '../harness/fixture';
import { comesToHold, until } from '../../../tooling/until';
import { EACH_MINUTE, change, named, once } from './files';
import { plays, requestsOf } from './scene';
import type { Scene } from './scene';
import type { Stage } from './stage';

/** Waits until the status of a node says that it waits for the device. */
const waits = (scene: Scene, node: string): Promise<void> =>
  until(() => scene.statusOf(node)?.endsWith('status.awaiting-device') === true, `"${node}" waits`);

/** Examples that command several devices, or one that is not there at the moment. */
export function fleet(stage: Stage): void {
  plays(
    stage,
    '23 Command a device that sleeps',
    'sends what waits when the device wakes, and nothing that has expired',
    async (scene) => {
      const { simulator } = scene;
      const device = simulator.device(THREE);
      await scene.press('Sleep for 10 s');
      await scene.waitShown('It sleeps');
      await until(() => device.asleep, 'it sleeps');
      await scene.press('Say hello within 3 s');
      const [error] = (await scene.waitShown('What went wrong')) as { code: string }[];
      assert.equal(error?.code, 'EXPIRED');
      await scene.press('Switch pin 5 on');
      await waits(scene, 'Set at next upload');
      assert.deepEqual([device.asleep, device.levels[5]], [true, '0']);
      // It uploads once when it wakes.
      await until(() => simulator.channels(THREE) > 0, 'its channel is open');
      simulator.wake(THREE);
      await scene.waitShown('That it is switched');
      assert.deepEqual([device.asleep, device.levels[5]], [false, '1']);
      await scene.press('Switch pin 5 off');
      // It uploads until both were sent: 3 s are short on a slow machine.
      const uploads = setInterval(() => simulator.upload(THREE, 'awake'), 50);
      try {
        await until(async () => {
          await scene.press('Say hello within 3 s');
          return comesToHold(() => scene.shown('That it has heard').length > 0, 5000);
        }, 'it has heard');
        await scene.waitShown('That it is switched', 2);
      } finally {
        clearInterval(uploads);
      }
      assert.deepEqual([device.levels[5], device.received.at(-1)?.text], ['0', 'hello']);
      assert.deepEqual(
        device.received.map(({ text }) => text),
        ['{"sleep":600}', 'hello'],
      );
    },
    {
      // It sleeps until the test has seen what waits for it; that it is 10 s in the example is looked at here.
      alter: (nodes) => {
        const { props } = named(nodes, 'Sleep for 10 s');
        assert.deepEqual(props, [{ p: 'payload', v: '{"sleep":10}', vt: 'json' }]);
        const longer = [{ p: 'payload', v: '{"sleep":600}', vt: 'json' }];
        return change(nodes, 'Sleep for 10 s', { props: longer });
      },
    },
  );

  plays(
    stage,
    '24 Switch many devices at once',
    'switches those that answer, and names the others',
    async (scene) => {
      const { simulator } = scene;
      const levels = (): unknown[] =>
        [ONE, TWO, THREE].map((chipid) => simulator.device(chipid).levels[5]);
      await scene.press('Switch pin 5 on');
      const [list] = await scene.waitShown('The list');
      assert.equal(list, '3 of 4 switched\n99999999: NOT_FOUND');
      assert.deepEqual(levels(), ['1', '1', '1']);
      simulator.fail('gateway', { path: `set_gpio_edge/${TWO}`, times: 1 });
      await scene.press('Switch pin 5 off');
      const [, second] = await scene.waitShown('The list', 2);
      assert.equal(second, `2 of 4 switched\n${TWO}: GATEWAY, may have acted\n99999999: NOT_FOUND`);
      const shown = (await scene.waitShown('What became of each', 2)) as { ok: boolean }[][];
      assert.deepEqual(
        shown[1]?.map(({ ok }) => ok),
        [true, false, true, false],
      );
      assert.deepEqual([levels()[0], levels()[2]], ['0', '0']);
    },
  );

  plays(stage, '25 Open a gate for half a second', 'opens and closes it again', async (scene) => {
    const { simulator } = scene;
    const { duration } = named(scene.nodes, 'Pulse pin 5');
    assert.equal(duration, '500');
    await scene.press('Open it');
    const [text] = await scene.waitShown('When it opened');
    assert.match(String(text), /^Gate 10000001 was opened at \d{4}-/);
    // It is open for so short a time that a busy machine may not see it.
    const edges = requestsOf(scene, 'set_gpio_edge').map((path) => path.slice(-4));
    assert.deepEqual(edges, ['5/1/', '5/0/']);
    assert.equal(simulator.device(ONE).levels[5], '0');
    await scene.press('Is it closed again?');
    assert.deepEqual(await scene.waitShown('The level'), [0]);
  });

  plays(
    stage,
    '27 Poll several devices every minute',
    'makes a table each time, with a row for a device that does not answer',
    async (scene) => {
      const { simulator } = scene;
      const row = (chipid: string): object => ({
        chipid,
        temperature: simulator.device(chipid).temperature,
      });
      const all = [ONE, TWO, THREE].map(row);
      assert.deepEqual(await scene.waitShown('The table'), [all]);
      await scene.press(EACH_MINUTE);
      assert.deepEqual(await scene.waitShown('The table', 2), [all, all]);
      simulator.fail('gateway', { path: `/${TWO}/` });
      await scene.press(EACH_MINUTE);
      const [, , third] = await scene.waitShown('The table', 3);
      assert.deepEqual(third, [row(ONE), { chipid: TWO, temperature: 'GATEWAY' }, row(THREE)]);
      await scene.waitShown('Count the answers', 3);
      assert.equal(scene.shown('Count the answers').at(-1), '2 of 3');
    },
    { alter: once },
  );

  plays(
    stage,
    '28 Push a Lua script to all online devices',
    'pushes what is in the file, and says who has it',
    async (scene) => {
      const { simulator } = scene;
      simulator.fail('gateway', { chipid: TWO, path: 'push', times: 1 });
      await scene.press('Write a script');
      const [path] = await scene.waitShown('Where it is');
      assert.equal(path, join(stage.folder, 'device-cloud-script.lua'));
      const script = await readFile(String(path), 'utf8');
      assert.equal(script, 'print("hello from a file")\n');
      await scene.press('Push the script');
      assert.deepEqual(await scene.waitShown('The count'), ['2 of 3 devices have the script']);
      for (const chipid of [ONE, THREE]) {
        const [{ format, text } = {}] = simulator.device(chipid).received;
        assert.deepEqual([format, text], ['LUA', script]);
      }
    },
  );
}
