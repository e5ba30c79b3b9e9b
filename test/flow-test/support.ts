import { join } from 'node:path';
import { readFlows, type Flows } from '../../flow-test/flows';
import { loadTests } from '../../flow-test/load';
import { findNodeRed, NodeRed } from '../../flow-test/node-red';
import { Runner } from '../../flow-test/run';
import type { FlowTest } from '../../flow-test/tests';
import { repository } from '../tooling/repository';
import { examples } from '../e2e/examples/files';

/** An example, or the demo, and its tests in `test/flows`. */
export interface TestedExample {
  readonly name: string;
  readonly flows: Flows;
  readonly tests: readonly FlowTest[];
}

/** Every example and the demo. @throws if one has no tests */
export function testedExamples(): TestedExample[] {
  const flows = examples.map(({ folder, name }) => ({
    name,
    path: join(repository, 'examples', folder, `${name}.json`),
  }));
  flows.push({ name: 'demo', path: join(repository, 'demo', 'flows.json') });
  return flows.map(({ name, path }) => ({
    name,
    flows: readFlows(path),
    tests: loadTests([join(repository, 'test', 'flows', `${name}.yaml`)]),
  }));
}

/** A runner on the Node-RED of this repository. @param allowed types of nodes that run although they reach outside */
export function startRunner(allowed: readonly string[] = []): Runner {
  const nodeRed = findNodeRed(repository);
  if (nodeRed === undefined) throw new Error('There is no Node-RED.');
  return new Runner(() => new NodeRed(nodeRed), allowed);
}
