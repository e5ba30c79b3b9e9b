/*
 * `npm run flow-mutations -- [COUNT] [SEED] [TEXT]`: breaks the examples and the demo in COUNT ways (100), chosen by the
 * seed, and runs their tests on each: would somebody learn of it? TEXT chooses those in whose name or description it is.
 */

import { resultText } from '../../../flow-test/report';
import type { Result, Runner } from '../../../flow-test/run';
import { seededRandom } from '../../../src/simulator/sensors';
import { atOnce, testedExamples, type TestedExample } from '../support';
import { mutationsOf, type Mutation } from './kinds';

const WANTED = 0.95;

/** A mutation of an example. */
export interface Subject extends Mutation {
  readonly example: TestedExample;
}

/** All mutations of an example, in an order that the seed decides. */
const shuffled = <T>(list: readonly T[], random: () => number): T[] =>
  list
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

/** Chooses some of each kind, each time from the example that has had the fewest. The same seed chooses the same. */
export function choose(all: readonly Subject[], count: number, seed: string): Subject[] {
  const left = shuffled(all, seededRandom(seed));
  const kinds = [...new Set(left.map(({ kind }) => kind))].sort();
  const had = new Map<string, number>();
  const chosen: Subject[] = [];
  while (chosen.length < count && left.length > 0)
    for (const kind of kinds) {
      const ofKind = left.filter((each) => each.kind === kind);
      const [next] = ofKind.sort(
        (a, b) => (had.get(a.example.name) ?? 0) - (had.get(b.example.name) ?? 0),
      );
      if (!next || chosen.length === count) continue;
      left.splice(left.indexOf(next), 1);
      had.set(next.example.name, (had.get(next.example.name) ?? 0) + 1);
      chosen.push(next);
    }
  return chosen;
}

/** Of a mutation: the test that failed of it, or undefined. */
async function found(runner: Runner, { example, nodes }: Subject): Promise<Result | undefined> {
  const flows = { ...example.flows, nodes };
  for (const test of example.tests) {
    const result = await runner.run(flows, test);
    if (result.failures.length === 0) continue;
    // A test that fails of itself has found nothing.
    const { failures } = await runner.run(example.flows, test);
    if (failures.length === 0) return result;
    console.log(`(fails without a mutation, too: ${example.name}, ${test.name}: ${failures[0]})`);
  }
  return undefined;
}

const isNamed = (lines: readonly string[], { names }: Subject): boolean =>
  names.some((name) => lines.join('\n').includes(`"${name}"`));

async function main(): Promise<void> {
  const [count = '100', seed = '1', text = ''] = process.argv.slice(2);
  const all = testedExamples().flatMap((example) =>
    mutationsOf(example.flows.nodes).map((mutation): Subject => ({ ...mutation, example })),
  );
  const fitting = all.filter((each) =>
    `${each.example.name}: ${each.kind} ${each.text}`.includes(text),
  );
  const queue = choose(fitting, Number(count), seed);
  const chosen = queue.length;
  console.log(`${chosen} of ${all.length} mutations, seed ${seed}`);
  const begin = performance.now();
  const survivors: Subject[] = [];
  let named = 0;
  let namedByDetails = 0;
  await atOnce(queue, async (next, runner) => {
    const result = await found(runner, next);
    const what = `${next.example.name}: ${next.kind}: ${next.text}`;
    if (!result) {
      survivors.push(next);
      console.log(`SURVIVED ${what}`);
      return;
    }
    if (isNamed(result.failures, next)) named++;
    else if (isNamed(result.details, next)) namedByDetails++;
    else console.log(`not named: ${resultText(result)}`);
    console.log(`found    ${what} (${result.test.name}, ${result.seconds.toFixed(1)} s)`);
  });
  const isFound = chosen - survivors.length;
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  console.log(
    `\n${isFound} of ${chosen} were found (${seconds} s). The text names the node: ${named} in what was expected, ` +
      `${namedByDetails} more in where messages went.`,
  );
  for (const { example, kind, text: what } of survivors)
    console.log(`survived: ${example.name}: ${kind}: ${what}`);
  if (isFound < chosen * WANTED) process.exitCode = 1;
}

void main();
