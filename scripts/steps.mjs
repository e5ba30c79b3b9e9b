import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './npm.mjs';

/** Ending this process also ends its children. */
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(1);
  });
}

/** Where Node.js 22 and newer keep what they have compiled: a Node-RED that starts again takes a seventh less CPU. */
const COMPILED = join(root, '.cache', 'compiled');

/** Removes what was compiled. The paths of user folders are random, so it would grow with each run. */
export const clearCompiled = () => rmSync(COMPILED, { recursive: true, force: true });

/** A step that has not ended by then hangs, even where several runs share a machine. */
const LIMIT_MINUTES = 25;

/**
 * Runs a step's commands one after the other, until one fails.
 *
 * @param step `name` and `commands`, each the arguments of a process of `node`, with extra `env`.
 * @param quiet keeps what is printed, for steps that run beside others.
 * @returns the step's result: `name`, `ok`, `seconds`, `output`
 */
export async function runStep({ name, commands, env, node }, { quiet }) {
  const started = Date.now();
  let output = '';
  let ok = true;
  for (const command of commands) {
    const end = await runCommand(command, { env, node, quiet });
    output += end.output;
    ok = end.problem === undefined;
    if (end.problem) output += `${end.problem}\n`;
    if (end.problem && !quiet) console.log(end.problem);
    if (!ok) break;
  }
  return { name, ok, seconds: (Date.now() - started) / 1000, output };
}

function runCommand(args, { env, node = process.execPath, quiet }) {
  const out = quiet ? 'pipe' : 'inherit';
  const child = spawn(node, args, {
    cwd: root,
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env, ...env },
    stdio: ['ignore', out, out],
  });
  running.add(child);
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => {
    let problem;
    const limit = setTimeout(() => {
      problem = `Ended after ${LIMIT_MINUTES} minutes: it hangs, or leaves something open.`;
      child.kill('SIGKILL');
    }, LIMIT_MINUTES * 60_000);
    child.once('error', (error) => (problem = error.message));
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      running.delete(child);
      if (code !== 0)
        problem ??= `${args.find((arg) => !arg.startsWith('--'))} ended with ${signal ?? `exit code ${code}`}.`;
      resolve({ output, problem });
    });
  });
}

export const headline = (name) => console.log(`\n▸ ${name}`);

/** Says how a step went; of a quiet one, what it printed when it failed or if `always`. */
export function report({ name, ok, seconds, output }, { quiet, always = false }) {
  if (quiet) headline(name);
  if (quiet && (always || !ok)) console.log(output.trimEnd());
  console.log(`${ok ? '  ok' : '  FAILED'}: ${name}, ${seconds.toFixed(1)} s`);
}
