import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Runner } from '../../flow-test/run';
import { readTests } from '../../flow-test/tests';
import { startRunner } from './support';

/** A flow whose function does what is given, and then passes the message on. */
const flowOf = (func: string) => ({
  folder: '.',
  nodes: [
    { id: 'tab', type: 'tab' },
    { id: 'go', z: 'tab', x: 1, y: 1, type: 'inject', name: 'Go', props: [], wires: [['work']] },
    {
      ...{ id: 'work', z: 'tab', x: 1, y: 1, type: 'function', name: 'Work', func, outputs: 1 },
      wires: [['end']],
    },
    { id: 'end', z: 'tab', x: 1, y: 1, type: 'debug', name: 'End', active: false, wires: [] },
  ],
});

const [TEST] = readTests(
  '{ name: a test, given: [{ inject: Go }], expect: [{ message: { at: End, within: 2 } }] }',
  'test.yaml',
);

const [COUNTED] = readTests(
  '{ name: a test, given: [{ inject: Go }], expect: [{ message: { at: End, count: 1, within: 1 } }] }',
  'test.yaml',
);

/** Gets the `process` of Node-RED, which the sandbox of a function node does not hide from somebody who looks for it. */
const ESCAPE = `const node_process = Buffer.constructor('return process')();
const load = (name) => node_process.getBuiltinModule(name);\n`;

describe('a flow under test', () => {
  let runner: Runner;
  before(() => void (runner = startRunner()));
  after(() => runner.close());

  const run = async (func: string): Promise<readonly string[]> => {
    assert.ok(TEST);
    return (await runner.run(flowOf(func), TEST)).failures;
  };

  for (const [what, func, failure] of [
    ['ends the process', `${ESCAPE}node_process.exit(3);`, /Node-RED has ended: exit code 3/],
    [
      'throws later',
      `${ESCAPE}node_process.nextTick(() => { throw new Error('later'); });`,
      /Node-RED has ended/,
    ],
    [
      'fills its memory',
      'const all = []; for (;;) all.push(new Array(1e7).fill(0));',
      /Node-RED has ended/,
    ],
    [
      'writes something else into the pipe of its process',
      `${ESCAPE}load('fs').writeSync(3, 'no JSON\\n'); return msg;`,
      /something else than its answers came over its pipe/,
    ],
  ] as const)
    it(`that ${what} fails one test`, async () => {
      assert.match((await run(func)).join(), failure);
      assert.deepEqual(await run('return msg;'), []);
    });

  it('that never ends fails one test', async () => {
    // It takes a whole core until it is given up, so that is a tenth of the usual time.
    const real = globalThis.setTimeout;
    const { mock: waits } = mock.method(
      globalThis,
      'setTimeout',
      (callback: () => void, ms: number) => real(callback, ms === 15_000 ? 1500 : ms),
    );
    const failures = await run('for (;;);').finally(() => waits.restore());
    assert.match(failures.join(), /did not answer \((inject|flush)\)/);
    assert.deepEqual(await run('return msg;'), []);
  });

  it('whose messages go round in a circle fails one test', async () => {
    assert.ok(COUNTED);
    const flow = flowOf('return msg;');
    const nodes = flow.nodes.map((node) =>
      node.id === 'work' ? { ...node, wires: [['work', 'end']] } : node,
    );
    const { failures } = await runner.run({ ...flow, nodes }, COUNTED);
    assert.match(failures.join(), /expected 1 messages at "End"/);
    assert.deepEqual(await run('return msg;'), []);
  });

  it('may do a lot', async () => {
    const [test] = readTests(
      '{ name: a lot, given: [{ inject: Go }], expect: [{ message: { at: End, count: 6000, within: 8 } }] }',
      'test.yaml',
    );
    assert.ok(test);
    const flow = flowOf('return [Array.from({ length: 6000 }, () => ({}))];');
    assert.deepEqual((await runner.run(flow, test)).failures, []);
  });

  it('may send a large Buffer', async () => {
    assert.deepEqual(await run("return { payload: Buffer.alloc(2e8, 'a') };"), []);
  });

  it('that goes on when its test is over is not seen by the next test', async () => {
    const [some] = readTests(
      '{ name: some, given: [{ inject: Go }], expect: [{ message: { at: End } }] }',
      'test.yaml',
    );
    const [none] = readTests(
      '{ name: none, expect: [{ none: { message: { at: End }, for: 0.5 } }, { noError: true }] }',
      'test.yaml',
    );
    assert.ok(some && none);
    const flow = flowOf(
      `${ESCAPE}load('timers').setInterval(() => { node.error('late'); node.send({}); }, 20); return msg;`,
    );
    assert.deepEqual((await runner.run(flow, some)).failures, []);
    assert.deepEqual((await runner.run(flow, none)).failures, []);
  });

  it('that fills the memory with Buffers, which no heap holds, fails one test', async () => {
    const [long] = readTests(
      '{ name: long, given: [{ inject: Go }], expect: [{ message: { at: End, within: 60 } }] }',
      'test.yaml',
    );
    assert.ok(long);
    const flow = flowOf(
      'const all = []; setInterval(() => { all.push(Buffer.alloc(1e8, 1)); }, 1);',
    );
    const { failures, details } = await runner.run(flow, long);
    assert.match(failures.join(), /Node-RED has ended/);
    assert.match(details.join('\n'), /takes more than 1024 MB of memory/);
    assert.deepEqual(await run('return msg;'), []);
  });

  it('finds no process to send to, as in any Node-RED', async () => {
    const failures = await run(
      `${ESCAPE}if (node_process.send) node_process.send({ id: 2 }); return msg;`,
    );
    assert.deepEqual(failures, []);
  });
});
