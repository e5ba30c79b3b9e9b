/* `npm run flow-tests -- [TIMES] [TEXT]`: the tests of the examples whose name contains a text, several times. */

import { resultText } from '../../flow-test/report';
import { atOnce, testedExamples } from './support';

async function main(): Promise<void> {
  const [times = '1', text = ''] = process.argv.slice(2);
  const examples = testedExamples().filter(({ name }) => name.includes(text));
  const counts = { passed: 0, failed: 0 };
  let whole = 0;
  for (let time = 1; time <= Number(times); time++) {
    const begin = performance.now();
    const failedBefore = counts.failed;
    await atOnce(examples, async ({ name, flows, tests }, runner) => {
      for (const test of tests) {
        const result = await runner.run(flows, test);
        const isGood = result.failures.length === 0;
        counts[isGood ? 'passed' : 'failed']++;
        if (!isGood || Number(times) === 1) console.log(`${name}: ${resultText(result)}`);
      }
    });
    if (counts.failed === failedBefore) whole++;
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    console.log(
      `run ${time} (${seconds} s): ${whole} of ${time} runs passed; ${counts.passed} tests passed, ${counts.failed} failed`,
    );
  }
  if (counts.failed > 0) process.exitCode = 1;
}

void main();
