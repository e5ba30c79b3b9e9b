import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../tooling/repository';
import { onLoopback } from '../tooling/servers/loopback';

const execute = promisify(execFile);

/** What the world outside would answer, by the path that is asked for. */
export type World = Record<string, object>;

/** What one check of the scorecard has found: whether it is green, and some words more. */
export interface Check {
  test: boolean;
  [detail: string]: unknown;
}
export type Scorecard = Record<string, Check>;

/** Installs the tool unless it is there, and gives the script that starts it. */
export async function installScorecard(): Promise<string> {
  const prepare = join(repository, 'scripts', 'prepare.mjs');
  await execute(process.execPath, [prepare, 'scorecard'], { cwd: repository });
  return join(repository, 'test', 'scorecard', 'node_modules', 'node-red-dev', 'bin', 'run');
}

/**
 * Gives a package's folder to the tool, whose proxy and registry are a stand-in. Its exit code says nothing:
 * it is 0 whatever was found. A request that `world` does not know fails.
 */
export async function scorecard(tool: string, folder: string, world: World): Promise<Scorecard> {
  const unknown: string[] = [];
  const server = createServer((request, response) => {
    const { url: asked = '' } = request;
    // As a proxy it is given whole addresses, as a registry only paths.
    const answer = world[new URL(asked, 'http://registry').pathname];
    if (!answer) unknown.push(asked);
    request.resume();
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  const { port, close } = await onLoopback(server);
  const url = `http://127.0.0.1:${port}/`;
  const card = join(folder, '..', 'scorecard.json');
  const own = Object.entries(process.env).filter(([name]) => !/proxy|^npm_|^NODE_/i.test(name));
  // `npm_registry` is what its libraries read, in place of npm's own variable.
  const env = { ...Object.fromEntries(own), https_proxy: url, npm_registry: url };
  const guard = join(repository, 'test', 'support', 'stub-only.cjs');
  const command = ['--require', guard, tool, 'validate', '--path', folder, '--output', card];
  try {
    await execute(process.execPath, command, {
      cwd: folder,
      env: { ...env, STUB_PORT: String(port) },
      timeout: 240_000,
      killSignal: 'SIGKILL',
    });
    assert.deepEqual(unknown, [], 'requests that nobody expected');
    const checks = JSON.parse(await readFile(card, 'utf8')) as Scorecard;
    delete checks['package'];
    return checks;
  } finally {
    await close();
  }
}
