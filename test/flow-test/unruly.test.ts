import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import type { Runner } from '../../flow-test/run';
import { readTests } from '../../flow-test/tests';
import { startRunner } from './support';

/** A flow whose function does what is given, and then passes the message on. */
const flowOf = (func: string) => ({
  file: 'flows.json',
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
const load = (name) => node_process.getBuiltinModule(name);
const tried = (run) => { try { return String(run()); } catch (error) { return error.code ?? error.message; } };\n`;

describe('a flow under test', () => {
  let runner: Runner;
  before(() => void (runner = startRunner()));
  after(() => runner.close());

  const run = async (func: string): Promise<readonly string[]> => {
    assert.ok(TEST);
    return (await runner.run(flowOf(func), TEST)).failures;
  };

  it('that ends the process fails one test', async () => {
    assert.match(
      (await run(`${ESCAPE}node_process.exit(3);`)).join(),
      /ended by itself \(exit code 3\)/,
    );
    assert.deepEqual(await run('return msg;'), []);
  });

  it('that throws later fails one test', async () => {
    const failures = await run(
      `${ESCAPE}node_process.nextTick(() => { throw new Error('later'); });`,
    );
    assert.match(failures.join(), /ended by itself/);
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
    const { failures, details } = await runner.run({ ...flow, nodes }, COUNTED);
    assert.match(failures.join(), /expected 1 messages at "End"/);
    assert.match(details.join(), /"Work" \(\d+ in, \d+ out\)/);
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

  it('that fills its memory fails one test', async () => {
    const failures = await run('const all = []; for (;;) all.push(new Array(1e7).fill(0));');
    assert.match(failures.join(), /ended by itself/);
    assert.deepEqual(await run('return msg;'), []);
  });

  it('reaches neither files nor processes nor a network', async () => {
    const escaped = '/tmp/device-cloud-test-escaped';
    let connections = 0;
    const server = createServer().on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const failures = await run(`${ESCAPE}
        const found = [
          tried(() => load('fs').readFileSync('/etc/hostname')),
          tried(() => load('fs').writeFileSync('${escaped}', '')),
          tried(() => load('child_process').execSync('true')),
          tried(() => new (load('worker_threads').Worker)('1', { eval: true })),
          tried(() => load('os').setPriority(node_process.ppid, load('os').getPriority(node_process.ppid))),
          tried(() => load('v8').setFlagsFromString('--trace-turbo-path=/tmp')),
          ...(load('node:sqlite') ? [tried(() => new (load('node:sqlite').DatabaseSync)('${escaped}'))] : []),
        ];
        if (node_process.report) {
          node_process.report.directory = '/tmp';
          node_process.report.writeReport('device-cloud-test-escaped');
        }
        if (found.some((code) => code !== 'ERR_ACCESS_DENIED')) throw new Error(found.join());
        const socket = load('net').connect(${port}, '127.0.0.1');
        socket.on('connect', () => node.error('connected'));
        socket.on('error', ({ code }) => code === 'EACCES' && node.send(msg));`);
      assert.deepEqual(failures, []);
      assert.equal(connections, 0);
      assert.ok(!existsSync(escaped));
    } finally {
      rmSync(escaped, { force: true });
      server.close();
    }
  });
});
