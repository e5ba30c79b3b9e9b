#!/usr/bin/env node
import { existsSync, realpathSync, watch, type FSWatcher } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { disabledNodes, fileOfFlows, readFlows, type Flows } from './flows';
import { loadTests } from './load';
import { findGlobalNodeRed, findNodeRed, nearest, NodeRed } from './node-red';
import { Problem } from './protocol';
import { printable } from '../src/index';
import { resultText, summary, writeJunit } from './report';
import { Runner, type Result } from './run';
import type { FlowTest } from './tests';

const HELP = `Usage: device-cloud-test FLOWS TESTS… [options]

Runs tests of flows: Node-RED starts on a copy of the flows, with every application of the device cloud on a simulator, and
with the nodes disabled that reach outside.

  FLOWS                a file of flows, or a user directory of Node-RED
  TESTS                files (.yaml, .yml, .json) or folders of tests

  --grep <text>        only tests whose name contains the text
  --allow <type>       do not disable nodes of this type; more than once for several types
  --node-red <folder>  a folder with node_modules/node-red (default: this one or the nearest above it, otherwise the
                       Node-RED that is installed globally)
  --junit <file>       write the results to a file, too, for CI services
  --watch              run again whenever the flows or the tests change
  --help               show this text

Exit code: 0 all tests passed, 1 a test failed, 2 the tests could not be run.
`;

const OPTIONS = {
  grep: { type: 'string' },
  allow: { type: 'string', multiple: true },
  'node-red': { type: 'string' },
  junit: { type: 'string' },
  watch: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const PASSED = 0;
const FAILED = 1;
const COULD_NOT_RUN = 2;

function nodeRedIn(folder: string | undefined): string {
  const found = findNodeRed(resolve(folder ?? '.')) ?? (folder ? undefined : findGlobalNodeRed());
  if (found !== undefined) return found;
  throw new Problem(
    folder === undefined
      ? 'Node-RED is installed neither here nor globally. Install it with "npm install --save-dev node-red", or name a folder ' +
          'that has it in its node_modules with --node-red.'
      : `There is no node_modules/node-red in ${folder}.`,
  );
}

/** What the command line asks for, read anew for each run of `--watch`. */
interface Plan {
  readonly flowsPath: string;
  readonly testPaths: readonly string[];
  readonly grep: string;
  readonly allowed: readonly string[];
  readonly junit: string | undefined;
}

const print = (text: string): void => void process.stdout.write(`${printable(text)}\n`);
// Nobody reads on, as with "| head".
process.stdout.on('error', () => process.exit(COULD_NOT_RUN));

/** The nodes that are disabled, by type. */
function announceDisabled(flows: Flows, allowed: readonly string[]): void {
  const disabled = disabledNodes(flows.nodes, allowed);
  if (disabled.length === 0) return;
  print('Disabled, since they reach outside (--allow TYPE enables them):');
  for (const type of [...new Set(disabled.map((node) => node.type))].sort()) {
    const names = disabled.filter((node) => node.type === type).map(({ name, id }) => name || id);
    print(`  ${type}: ${names.join(', ')}`);
  }
}

function chosen({ testPaths, grep }: Plan): FlowTest[] {
  const tests = loadTests(testPaths).filter(({ name }) => name.includes(grep));
  if (tests.length > 0) return tests;
  throw new Problem(
    grep === ''
      ? `There is no test in ${testPaths.join(', ')}.`
      : `No test has "${grep}" in its name.`,
  );
}

async function runAll(plan: Plan, runner: Runner): Promise<number> {
  const flows = readFlows(plan.flowsPath);
  const tests = chosen(plan);
  announceDisabled(flows, plan.allowed);
  const results: Result[] = [];
  for (const test of tests) {
    const result = await runner.run(flows, test);
    results.push(result);
    print(resultText(result));
  }
  print(`\n${summary(results)}`);
  if (plan.junit !== undefined) writeJunit(plan.junit, results);
  return results.some(({ failures }) => failures.length > 0) ? FAILED : PASSED;
}

/** Milliseconds after a change until everything is taken to be saved. */
const SETTLE = 200;

/** Watches the flows and the tests, not the thousands of other files of a user directory, nor the results among the tests. */
function watchAll(plan: Plan, onChange: () => void): FSWatcher[] {
  const paths = [fileOfFlows(plan.flowsPath), ...plan.testPaths];
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new Problem(`${missing}: there is no such file or folder.`);
  return paths.map((path) => {
    const onEvent = (_event: string, name: string | null): void => {
      if (name === null || resolve(path, name) !== resolve(plan.junit ?? '')) onChange();
    };
    return watch(path, { recursive: true }, onEvent).on('error', onChange);
  });
}

/** Runs all, and again after each change, until the process is ended. */
async function keepRunning(plan: Plan, runner: Runner): Promise<never> {
  for (;;) {
    let onChange = (): void => undefined;
    const changed = new Promise<void>((done) => (onChange = done));
    const watchers = watchAll(plan, onChange);
    await runAll(plan, runner).catch((error: unknown) => print(explain(error)));
    print('Waiting for a change. Ctrl-C ends.');
    await changed;
    for (const watcher of watchers) watcher.close();
    await new Promise((done) => setTimeout(done, SETTLE));
  }
}

/** An error of the system, or of how the command was typed, has a code and says all in its message. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message}. See --help.`;
  return error instanceof Problem || code !== '' ? error.message : String(error.stack);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  if (values.help) {
    print(HELP);
    return PASSED;
  }
  const [flowsPath, ...testPaths] = positionals;
  if (flowsPath === undefined || testPaths.length === 0)
    throw new Problem('Name the flows and the tests. See --help.');
  const { allow: allowed = [], grep = '', junit } = values;
  const plan: Plan = { flowsPath, testPaths, grep, allowed, junit };
  const nodeRed = nodeRedIn(values['node-red']);
  // The project's own nodes are loaded only for what is allowed of them.
  const folder = realpathSync(dirname(fileOfFlows(flowsPath)));
  const modules = allowed.length > 0 ? nearest(folder, 'node_modules') : undefined;
  const runner = new Runner(() => new NodeRed(nodeRed, modules), allowed);
  process.once('exit', () => runner.closeAtExit());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(COULD_NOT_RUN));
  try {
    return await (values.watch ? keepRunning(plan, runner) : runAll(plan, runner));
  } finally {
    await runner.close();
  }
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${printable(`device-cloud-test: ${explain(error)}`)}\n`);
    process.exitCode = COULD_NOT_RUN;
  },
);
