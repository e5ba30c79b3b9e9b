/* `npm run flow-tests -- [TIMES] [TEXT]`: the tests of the examples whose name contains a text, several times. */

import { resultText } from '../../flow-test/report';
import { startRunner, testedExamples } from './support';

async function main(): Promise<void> {
  const [times = '1', text = ''] = process.argv.slice(2);
  const runner = startRunner();
  const counts = { passed: 0, failed: 0 };
  try {
    for (let time = 1; time <= Number(times); time++) {
      const begin = performance.now();
      for (const { name, flows, tests } of testedExamples().filter((each) =>
        each.name.includes(text),
      ))
        for (const test of tests) {
          const result = await runner.run(flows, test);
          const isGood = result.failures.length === 0;
          counts[isGood ? 'passed' : 'failed']++;
          if (!isGood || Number(times) === 1) console.log(`${name}: ${resultText(result)}`);
        }
      const seconds = ((performance.now() - begin) / 1000).toFixed(0);
      console.log(
        `run ${time}: ${counts.passed} passed, ${counts.failed} failed so far (${seconds} s)`,
      );
    }
  } finally {
    await runner.close();
  }
  if (counts.failed > 0) process.exitCode = 1;
}

void main();
