import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { EACH_MINUTE, named, once } from './files';
import { plays, requestsOf } from './scene';
import type { Stage } from './stage';

/** Examples that command several devices, or one that is not there at the moment. */
export function fleet(stage: Stage): void {
  plays(
    stage,
    'Switch many devices at once',
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

  plays(stage, 'Open a gate for half a second', 'opens and closes it again', async (scene) => {
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
    'Poll several devices every minute',
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
}
