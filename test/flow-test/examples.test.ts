import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFlows } from '../../flow-test/flows';
import { loadTests } from '../../flow-test/load';
import { resultText } from '../../flow-test/report';
import type { Runner } from '../../flow-test/run';
import { repository } from '../tooling/repository';
import { temporaryFolder } from '../tooling/temporary-folder';
import { startRunner, testedExamples, type TestedExample } from './support';

/** How many Node-REDs share the examples, whose tests wait more than they work. */
const SIDE_BY_SIDE = 3;

describe('the tests of the examples', () => {
  const examples = testedExamples();
  let runners: Runner[];
  before(() => void (runners = Array.from({ length: SIDE_BY_SIDE }, () => startRunner())));

  it('expect something of each debug node', () => {
    for (const { name, flows, tests } of examples) {
      const expected = tests.flatMap(({ expect }) =>
        expect.flatMap((each) => (each.kind === 'message' ? [each.at] : [])),
      );
      const debug = flows.nodes.filter(({ type }) => type === 'debug').map((node) => node['name']);
      assert.deepEqual(
        debug.filter((each) => !expected.includes(String(each))),
        [],
        name,
      );
    }
  });

  const begun: Promise<string>[] = [];
  after(async () => {
    await Promise.allSettled(begun);
    for (const runner of runners) await runner.close();
  });

  async function run({ flows, tests }: TestedExample, runner: Runner): Promise<string> {
    const failed: string[] = [];
    for (const test of tests) {
      const result = await runner.run(flows, test);
      if (result.failures.length > 0) failed.push(resultText(result));
    }
    return failed.join('\n');
  }

  /** What each runner does last: the next example waits for it. */
  const last: Promise<unknown>[] = [];
  const begin = (index: number): Promise<string> => {
    const place = index % SIDE_BY_SIDE;
    const free = last[place] ?? Promise.resolve();
    const outcome = free.then(() => run(examples[index]!, runners[place]!));
    last[place] = outcome;
    return outcome;
  };

  for (const [index, { name }] of examples.entries()) {
    it(name, async () => {
      const end = Math.min(index + SIDE_BY_SIDE, examples.length);
      for (let next = index; next < end; next++) begun[next] ??= begin(next);
      assert.equal(await begun[index], '');
    });
  }
});

/** The page for programs that write flows. */
describe('llms.txt', () => {
  const page = readFileSync(join(repository, 'llms.txt'), 'utf8');
  const [, flow = '', test = ''] = /```json\n(.*?)```.*?```yaml\n(.*?)```/s.exec(page) ?? [];

  it('is as `npm run tables` writes it', async () => {
    const script = pathToFileURL(join(repository, 'docs', 'site', 'llms.mjs')).href;
    const { llmsText } = (await import(script)) as { llmsText: (nodes: string[]) => string };
    const nodes = [...page.matchAll(/^`device-cloud-(.*)`$/gm)].map(([, name = '']) => name);
    const {
      'node-red': { nodes: all },
    } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      'node-red': { nodes: object };
    };
    assert.deepEqual(nodes.toSorted(), Object.keys(all).sort());
    assert.equal(page, llmsText(nodes));
  });

  it('has a flow and a test that passes on it', async () => {
    const folder = temporaryFolder('llms');
    const paths = ['flows.json', 'test.yaml'].map((name) => join(folder, name));
    for (const [index, text] of [flow, test].entries()) writeFileSync(paths[index]!, text);
    const runner = startRunner();
    const result = await runner.run(readFlows(paths[0]!), loadTests([paths[1]!])[0]!);
    await runner.close();
    assert.deepEqual(result.failures, [], resultText(result));
  });
});

describe('the file that the example "Save the history as CSV" writes', () => {
  const folder = temporaryFolder('flow-test-history');
  const saved = join(folder, 'saved.csv');
  const testFile = join(folder, 'test.yaml');
  let runner: Runner;
  before(() => void (runner = startRunner(['file'])));
  after(() => runner.close());

  const run = async (example: string, text: string): Promise<void> => {
    const found = testedExamples().find(({ name }) => name.includes(example));
    writeFileSync(testFile, text);
    const [test] = loadTests([testFile]);
    assert.ok(found && test);
    const result = await runner.run(found.flows, test);
    assert.deepEqual(result.failures, [], resultText(result));
  };

  it('is played through a flow', async () => {
    await run(
      'Save the history as CSV',
      `name: it is written
given:
  - set: { node: Write it, property: filenameType, value: str }
  - set: { node: Write it, property: filename, value: '${saved.replaceAll('\\', '/')}' }
  - upload: { chipid: 10000001, payload: { temperature: 26.5, humidity: 40 } }
  - wait: 1
  - upload: { chipid: 10000001, payload: 'quoted, "so"' }
  - inject: Write file
expect:
  - message: { at: The file }
`,
    );
    await run(
      'Receive uploads',
      `name: it is read
given:
  - uploads: { file: saved.csv, speed: 2 }
expect:
  - message: { at: Each upload, match: { payload: { temperature: 26.5, humidity: 40 } } }
  - message: { at: Each upload, match: { payload: 'quoted, "so"' } }
  - noError: true
`,
    );
  });
});
