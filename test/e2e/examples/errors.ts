import assert from 'node:assert/strict';
import type { FaultName } from '../../../src/simulator';
import { ONE } from '../harness/fixture';
import { plays } from './scene';
import type { Stage } from './stage';

/** What goes wrong with a push, and which way its error has to take. */
const FAULTS: [FaultName, way: string, code: string][] = [
  ['unauthorized', 'Look at the settings', 'UNAUTHORIZED'],
  ['server-error', 'Another error', 'SERVER_ERROR'],
  ['html', 'Another error', 'INVALID_RESPONSE'],
];

/** The example that handles errors by their code. */
export function errors(stage: Stage): void {
  plays(stage, 'Handle errors by their code', 'sends each error its way', async (scene) => {
    const { simulator } = scene;
    const codes = async (way: string, count = 1): Promise<string[]> =>
      ((await scene.waitShown(way, count)) as { code: string }[]).map(({ code }) => code);
    await scene.press('Push to 10000001');
    assert.deepEqual(await scene.waitShown('The answer'), [{ msg: 'OK' }]);
    await scene.press('Switch a pin to "maybe"');
    assert.deepEqual(await codes('Fix the flow'), ['INVALID_INPUT']);
    await scene.press('Push to 99999999');
    assert.deepEqual(await codes('There is no such device'), ['NOT_FOUND']);
    // Nobody knows whether it acted, so it is asked.
    const heal = simulator.fail('hang', { path: 'dev/push' });
    await scene.press('Push, but do not wait');
    assert.deepEqual(await scene.waitShown('It may have acted'), [true]);
    heal();
    simulator.fail('gateway', { times: 1, path: 'dev/push' });
    await scene.press('Push to 10000001');
    assert.deepEqual(await scene.waitShown('It may have acted', 2), [true, true]);
    simulator.fail('reset', { times: 1, path: 'dev/push' });
    simulator.switchOff(ONE);
    await scene.press('Push to 10000001');
    assert.deepEqual(await scene.waitShown('It may have acted', 3), [true, true, false]);
    simulator.switchOn(ONE);

    const seen = new Map<string, number>();
    for (const [fault, way, code] of FAULTS) {
      simulator.fail(fault, { times: 1, path: 'dev/push' });
      await scene.press('Push to 10000001');
      seen.set(way, (seen.get(way) ?? 0) + 1);
      assert.equal((await codes(way, seen.get(way))).at(-1), code);
    }
    await simulator.close();
    await scene.press('Push to 10000001');
    assert.deepEqual(await codes('Not sent: try it later'), ['UNREACHABLE']);
    assert.deepEqual(scene.shown('What went wrong'), []);
    assert.equal(scene.shown('The answer').length, 1);
  });
}
