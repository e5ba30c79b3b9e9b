import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ONE } from '../harness/fixture';
import { until } from '../../../tooling/until';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { freePort } from '../../../tooling/servers/ports';
import { change, named } from './files';
import { plays } from './scene';
import type { Stage } from './stage';

const NAME = 'Push and try again';

/** What a debug node shows of an error, and of a message that is tried again. */
interface Problem {
  code: string;
}
interface Try {
  payload: unknown;
  retries: number;
}

/** Two seconds between tries are for people. */
function hurry(nodes: FlowNode[], seconds = '0.1'): FlowNode[] {
  const { timeout, timeoutUnits } = named(nodes, 'Wait two seconds');
  assert.deepEqual([timeout, timeoutUnits], ['2', 'seconds']);
  return change(nodes, 'Wait two seconds', { timeout: seconds });
}

/** On a busy machine a push may not even be on its way within ten milliseconds. */
function unhurried(nodes: FlowNode[]): FlowNode[] {
  assert.equal(named(nodes, 'Wait 10 ms only').timeout, '0.01');
  return change(nodes, 'Wait 10 ms only', { timeout: '2' });
}

/** Where nobody answers. */
async function nowhere(nodes: FlowNode[]): Promise<FlowNode[]> {
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  return nodes.map((node) => (node.type === 'device-cloud-app' ? { ...node, baseUrl } : node));
}

/** The example that tries again. */
export function retry(stage: Stage): void {
  plays(
    stage,
    NAME,
    'pushes each of 120 once, though the queue takes only 100',
    async (scene) => {
      const { received } = scene.simulator.device(ONE);
      await scene.press('Push one message');
      assert.deepEqual(await scene.waitShown('Count the answers'), [{ msg: 'OK' }]);
      // The first holds up the others, of which the queue takes a hundred.
      scene.simulator.delay(ONE, 250);
      await scene.press('Push 120 at once');
      await scene.waitShown('Each new try');
      scene.simulator.delay(ONE, 1);
      await scene.waitStatus('Count the answers', '121');
      const texts = received.map(({ text }) => text);
      assert.equal(texts.length, 121);
      assert.deepEqual(
        new Set(texts),
        new Set(['hello', ...Array.from({ length: 120 }, (_, i) => String(i + 1))]),
      );
      assert.deepEqual(scene.shown('Give up'), []);
    },
    { alter: (nodes) => hurry(nodes, '1') },
  );

  plays(
    stage,
    NAME,
    'tries three times where nobody can be reached, and then gives up',
    async (scene) => {
      await scene.press('Push one message');
      const [problem] = (await scene.waitShown('Give up')) as Problem[];
      assert.equal(problem?.code, 'UNREACHABLE');
      const tries = scene.shown('Each new try') as Try[];
      assert.deepEqual(
        tries.map(({ payload, retries }) => [payload, retries]),
        [1, 2, 3].map((count) => ['hello', count]),
      );
    },
    { alter: (nodes) => nowhere(hurry(nodes)) },
  );

  plays(
    stage,
    NAME,
    'never tries again after a TIMEOUT, since the device has acted',
    async (scene) => {
      const { received } = scene.simulator.device(ONE);
      scene.simulator.delay(ONE, 30_000);
      await scene.press('Push, but do not wait');
      const [problem] = (await scene.waitShown('Do not try again')) as Problem[];
      assert.equal(problem?.code, 'TIMEOUT');
      await until(() => received.length === 1, 'the device has acted');
      // Several times as long as it would take to try again.
      await sleep(400);
      assert.equal(received.length, 1);
      assert.deepEqual(scene.shown('Each new try'), []);
    },
    { alter: (nodes) => unhurried(hurry(nodes)), simulator: { offlineAfter: 60_000 } },
  );
}
