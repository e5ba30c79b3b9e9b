import assert from 'node:assert/strict';
import { until } from '../../../tooling/until';
import { ONE, TWO } from '../harness/fixture';
import { plays } from './scene';
import type { Stage } from './stage';

/** Examples that ask for what was received before. */
export function latest(stage: Stage): void {
  plays(stage, 'Show the latest readings', 'makes a table, and shows one', async (scene) => {
    const { simulator } = scene;
    await scene.press('Show 10000001');
    const [unknown] = (await scene.waitShown('What it sent')) as { payload: unknown }[];
    assert.equal(unknown?.payload, null);
    for (const chipid of [ONE, TWO])
      await until(() => simulator.channels(chipid) === 1, 'a channel is open');
    simulator.upload(ONE, { temperature: 20 });
    simulator.upload(ONE, { temperature: 21 });
    simulator.upload(TWO, { temperature: 4 });
    type Row = Record<string, unknown>;
    const rows = (): Row[] => (scene.shown('The table').at(-1) ?? []) as Row[];
    await until(async () => {
      await scene.press('All devices');
      return rows().length === 2 && rows()[0]?.['temperature'] === 21;
    }, 'the table has both');
    assert.deepEqual(
      rows().map(({ chipid, name, temperature, online }) => ({
        chipid,
        name,
        temperature,
        online,
      })),
      [
        { chipid: ONE, name: 'Greenhouse', temperature: 21, online: true },
        { chipid: TWO, name: 'Cold store', temperature: 4, online: true },
      ],
    );
  });
}
