import assert from 'node:assert/strict';
import { resultText } from '../../flow-test/report';
import type { Runner } from '../../flow-test/run';
import { startRunner, testedExamples } from './support';

describe('the tests of the examples', () => {
  let runner: Runner;
  before(() => void (runner = startRunner()));
  after(() => runner.close());

  for (const { name, flows, tests } of testedExamples()) {
    it(name, async () => {
      const failed: string[] = [];
      for (const test of tests) {
        const result = await runner.run(flows, test);
        if (result.failures.length > 0) failed.push(resultText(result));
      }
      assert.deepEqual(failed.join('\n'), '');
    });
  }
});
