import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BARE, keep, type Child } from '../tooling/process';
import { repository } from '../tooling/repository';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';

const project = temporaryFolder('flow-test-cli');
/** Where the command may put what it has to remove. */
const temporary = temporaryFolder('flow-test-cli-temporary');

/** A button, a function or another node, and where its messages end. */
const flowsOf = (work: object): string =>
  JSON.stringify([
    { id: 'tab', type: 'tab' },
    { id: 'go', z: 'tab', x: 1, y: 1, type: 'inject', name: 'Go', props: [], wires: [['work']] },
    { id: 'work', z: 'tab', x: 1, y: 1, name: 'Work', wires: [['end']], ...work },
    { id: 'end', z: 'tab', x: 1, y: 1, type: 'debug', name: 'End', active: false, wires: [] },
  ]);
const functionOf = (func: string): object => ({ type: 'function', func, outputs: 1 });

const testOf = (name: string, payload: string): string =>
  `- { name: ${name}, given: [{ inject: Go }], expect: [{ message: { at: End, match: { payload: ${payload} } } }] }\n`;

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(project, name, '..'), { recursive: true });
    writeFileSync(join(project, name), text);
  }
}

function start(parameters: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const cli = join(repository, 'dist', 'flow-test', 'cli.js');
  const child = spawn(process.execPath, [cli, ...parameters], {
    cwd: project,
    env: { ...process.env, ...BARE, TMPDIR: temporary, ...env },
  });
  return keep('device-cloud-test', child);
}

const startHere = (...parameters: string[]): Child =>
  start(['flows.json', 'tests', '--node-red', repository, ...parameters]);

/** @returns how it ended, and what it printed */
async function run(...parameters: string[]): Promise<{ end: string; text: string }> {
  const child = startHere(...parameters);
  const end = await child.ended;
  child.crashed.catch(() => undefined);
  return { end, text: child.log() };
}

/** Processes that were started in the temporary folder. */
const left = (): string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(temporary) && line.includes('agent'));

async function assertNothingLeft(): Promise<void> {
  await until(() => left().length === 0, 'its Node-RED has ended');
  assert.deepEqual(readdirSync(temporary), []);
}

describe('the command device-cloud-test', () => {
  it('passes, fails and says which, also to a CI service', async () => {
    write({
      'flows.json': flowsOf(functionOf('return { payload: "a < b" };')),
      'tests/both.yaml': testOf('it is so', "'a < b'") + testOf('it is otherwise', '2'),
    });
    const failed = await run('--junit', 'results.xml');
    assert.equal(failed.end, 'exit code 1', failed.text);
    assert.match(failed.text, /^✓ it is so \(.*\n✗ it is otherwise \(/m);
    assert.match(
      failed.text,
      /\n {4}expected a message at "End" like \{"payload":2\}, within 5 s\n/,
    );
    assert.match(failed.text, /at \d+\.\d\d s \{.*\(payload is "a < b", not 2\)\n/);
    assert.match(failed.text, /\n1 passed, 1 failed\n$/);
    const junit = readFileSync(join(project, 'results.xml'), 'utf8');
    assert.match(junit, /<testsuite name="device-cloud-test" tests="2" failures="1" /);
    assert.match(junit, /<testcase name="it is so" classname="tests\/both.yaml" time="[\d.]+"\/>/);
    assert.match(junit, /<failure message="[^"]*&#34;End&#34;[^"]*">[^<]*a &#60; b/);

    const chosen = await run('--grep', 'so');
    assert.equal(chosen.end, 'exit code 0', chosen.text);
    assert.match(chosen.text, /\n1 passed, 0 failed\n$/);
    await assertNothingLeft();
  });

  it('says what is wrong if nothing can be run', async () => {
    write({ 'flows.json': flowsOf(functionOf('')), 'tests/both.yaml': testOf('a test', '1') });
    const none = await run('--grep', 'another');
    assert.deepEqual(none, {
      ...{ end: 'exit code 2', text: 'device-cloud-test: No test has "another" in its name.\n' },
    });
    write({ 'tests/both.yaml': '[]' });
    const empty = await run();
    assert.equal(empty.end, 'exit code 2');
    assert.match(empty.text, /^device-cloud-test: There is no test in tests\.\n$/);
    write({ 'tests/both.yaml': '- name: a test\n  expect:\n    - pins: 5\n' });
    const malformed = await run();
    assert.equal(malformed.end, 'exit code 2');
    assert.match(
      malformed.text,
      /both\.yaml:3: An entry of "expect" has no "pins"\. It has "message", /,
    );
    for (const [parameters, message] of [
      [['--nonsense'], /^device-cloud-test: Unknown option '--nonsense'.* See --help\.\n$/],
      [['no-such-folder', '--watch'], /no-such-folder: there is no such file or folder\.\n$/],
      [['--grep'], /^device-cloud-test: .*'--grep <value>' argument missing.* See --help\.\n$/],
      [['--junit', 'flows.json/results.xml'], /^device-cloud-test: E[A-Z]+: .*flows\.json/m],
    ] as const) {
      write({ 'tests/both.yaml': testOf('a test', '1') });
      const { end, text } = await run(...parameters);
      assert.equal(end, 'exit code 2');
      assert.match(text, message);
    }
  });

  it('prints what a flow says as text, which no terminal and no service obeys', async () => {
    const said =
      '\\u001b[2J\\r::error::x\\n::set-output name=a::b\\n ##[group]x ##vso[task]\\u202e';
    write({
      'flows.json': flowsOf(functionOf(`node.warn("${said}"); node.error("${said}");`)),
      'tests/both.yaml':
        '- { name: "::error::\\e[1A", given: [{ inject: Go }], expect: [{ noError: true }] }',
    });
    const { end, text } = await run('--junit', 'results.xml');
    assert.equal(end, 'exit code 1');
    assert.match(text, /set-output/);
    assert.doesNotMatch(text, /(?!\n)\p{Cc}|\p{Cf}|^\s*::|##\w*\[/mu);
    const junit = readFileSync(join(project, 'results.xml'), 'utf8');
    assert.doesNotMatch(junit, /(?!\n)\p{Cc}|\p{Cf}/u);
    assert.match(junit, /<testcase name=": :error::\uFFFD\[1A"/);
  });

  it('takes the Node-RED of the command node-red where the project has none', async () => {
    write({
      'flows.json': flowsOf(functionOf('return { payload: 1 };')),
      'tests/both.yaml': testOf('it is 1', '1'),
    });
    mkdirSync(join(project, 'bin'));
    symlinkSync(
      join(repository, 'node_modules', 'node-red', 'red.js'),
      join(project, 'bin', 'node-red'),
    );
    const child = start(['flows.json', 'tests'], { PATH: join(project, 'bin') });
    assert.equal(await child.ended, 'exit code 0', child.log());
  });

  it('runs nodes of other packages that are allowed, and disables the others', async () => {
    const half = (name: string): string =>
      `module.exports = (RED) => RED.nodes.registerType('${name}', function (config) {
         RED.nodes.createNode(this, config);
         this.on('input', (msg, send, done) => (send({ payload: require('answer') }), done()));
       });`;
    const folder = 'node_modules/node-red-contrib-answer';
    write({
      [`${folder}/package.json`]: JSON.stringify({
        ...{ name: 'node-red-contrib-answer', version: '1.0.0', dependencies: { answer: '1' } },
        'node-red': { nodes: { answer: 'answer.js' } },
      }),
      [`${folder}/answer.js`]: half('the-answer'),
      [`${folder}/answer.html`]: `<script>RED.nodes.registerType('the-answer', {})</script>`,
      'node_modules/answer/index.js': 'module.exports = 42;',
      'flows.json': flowsOf({ type: 'the-answer' }),
      'tests/both.yaml': testOf('it answers', '42'),
    });
    const allowed = await run('--allow', 'the-answer');
    assert.equal(allowed.end, 'exit code 0', allowed.text);
    const disabled = await run();
    assert.equal(disabled.end, 'exit code 1');
    assert.match(disabled.text, /^Disabled, .*\n {2}the-answer: Work\n/);
    await assertNothingLeft();
  });

  it('ends with what it has started when nobody reads on', async () => {
    write({
      'flows.json': flowsOf(functionOf('')),
      'tests/both.yaml': testOf('the first', '1') + testOf('the second', '1'),
    });
    const child = startHere();
    await until(() => left().length > 0, 'Node-RED has started');
    child.process.stdout?.destroy();
    assert.equal(await child.ended, 'exit code 2');
    child.crashed.catch(() => undefined);
    await assertNothingLeft();
  });

  it('runs again at each change, until it is ended', async () => {
    write({
      'flows.json': flowsOf(functionOf('return { payload: 1 };')),
      'tests/both.yaml': testOf('it is 1', '1'),
    });
    const child = start([
      '.',
      'tests',
      '--node-red',
      repository,
      '--watch',
      '--junit',
      'tests/results.xml',
    ]);
    await child.logged(/✓ it is 1 [^]*Waiting for a change/);
    // Neither its own results nor another file of the user directory are a change.
    write({ 'other.json': '{}' });
    await sleep(500);
    const first = child.log().length;
    assert.equal(child.log().split('it is 1').length, 2);
    write({ 'tests/both.yaml': testOf('it is 2', '2') });
    await child.logged(/✗ it is 2 [^]*Waiting for a change/, first);
    const second = child.log().length;
    write({ 'tests/both.yaml': 'name: it is 3' });
    await child.logged(/both\.yaml.*"expect" must be a list[^]*Waiting/, second);
    const third = child.log().length;
    write({
      'flows.json': flowsOf(functionOf('return { payload: 2 };')),
      'tests/both.yaml': testOf('it is 2', '2'),
    });
    await child.logged(/✓ it is 2 /, third);
    await child.end('SIGINT');
    assert.equal(await child.ended, 'exit code 2');
    await assertNothingLeft();
  });
});
