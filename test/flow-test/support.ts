import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { allow } from '../../flow-test/allowed';
import { readFlows, type Flows } from '../../flow-test/flows';
import { loadTests } from '../../flow-test/load';
import { findNodeRed } from '../../flow-test/node-red';
import { Runner } from '../../flow-test/run';
import type { FlowTest } from '../../flow-test/tests';
import { repository } from '../../tooling/repository';

/** An example, or the demo, and its tests in `test/flows`. */
export interface TestedExample {
  readonly name: string;
  readonly flows: Flows;
  readonly tests: readonly FlowTest[];
}

/** Every example and the demo. @throws if one has no tests */
export function testedExamples(): TestedExample[] {
  const examples = readdirSync(join(repository, 'examples')).map((file) =>
    file.replace('.json', ''),
  );
  return [...examples, 'demo'].map((name) => ({
    name,
    flows: readFlows(
      join(
        repository,
        ...(name === 'demo' ? ['demo', 'flows.json'] : ['examples', `${name}.json`]),
      ),
    ),
    tests: loadTests([join(repository, 'test', 'flows', `${name}.yaml`)]),
  }));
}

/** A runner on the Node-RED of FLOW_TEST_NODE_RED, by default that of this repository. */
export function startRunner(types: readonly string[] = []): Runner {
  const nodeRed = findNodeRed(process.env['FLOW_TEST_NODE_RED'] ?? repository);
  if (nodeRed === undefined) throw new Error('There is no Node-RED.');
  const ownName = '@device-cloud/node-red-device-cloud';
  return new Runner({ nodeRed, ownPackage: repository, ownName }, allow(types));
}

/** Does something with each item, several at a time, since tests wait more than they work; each at a Node-RED of its own. */
export async function atOnce<T>(
  items: readonly T[],
  work: (item: T, runner: Runner) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const workers = Array.from(
    { length: Number(process.env['FLOW_TESTS_AT_ONCE'] ?? 3) },
    async () => {
      const runner = startRunner();
      try {
        for (let item = queue.shift(); item !== undefined; item = queue.shift())
          await work(item, runner);
      } finally {
        await runner.close();
      }
    },
  );
  await Promise.all(workers);
}
