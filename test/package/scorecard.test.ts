import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedCopy } from '../e2e/harness/packed';
import { repository } from '../tooling/repository';
import { onLoopback } from '../tooling/servers/loopback';

const execute = promisify(execFile);

/** What the world outside would answer, by the path that is asked for. */
type World = Record<string, object>;

/** What one check of the scorecard has found: whether it is green, and some words more. */
interface Check {
  test: boolean;
  [detail: string]: unknown;
}
type Scorecard = Record<string, Check>;

/** Installs the tool unless it is there, and gives the script that starts it. */
async function installScorecard(): Promise<string> {
  const prepare = join(repository, 'scripts', 'prepare.mjs');
  await execute(process.execPath, [prepare, 'scorecard'], { cwd: repository });
  return join(repository, 'test', 'scorecard', 'node_modules', 'node-red-dev', 'bin', 'run');
}

/**
 * Gives a package's folder to the tool, whose proxy and registry are a stand-in. Its exit code says nothing:
 * it is 0 whatever was found. A request that `world` does not know fails.
 */
async function scorecard(tool: string, folder: string, world: World): Promise<Scorecard> {
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

interface Manifest {
  name: string;
  keywords: string[];
  'node-red': { nodes: Record<string, string> };
}

const read = (file: string): string => readFileSync(join(repository, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const types = Object.keys(manifest['node-red'].nodes).map((name) => `device-cloud-${name}`);
const CONFIG = ['device-cloud-app', 'device-cloud-type', 'device-cloud-cluster'];
const withInputs = types.filter((type) => !CONFIG.includes(type)).sort();

/** Versions as the registry lists them; the newest is the last. */
const registered = (name: string, ...versions: [string, object][]): object => ({
  name,
  'dist-tags': { latest: versions.at(-1)?.[0], maintenance: versions[0]?.[0] },
  versions: Object.fromEntries(versions),
});

/** The newest undici and write-file-atomic are of version 8, and the others' the ones that the lock has. */
function world(): World {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  const locked = (name: string): string => packages[`node_modules/${name}`]!.version;
  const nodes = (node: string): object => ({ engines: { node } });
  return {
    '/catalogue.json': { modules: [] },
    '/node-red': registered('node-red', ['4.1.15', nodes('>=18.5')], ['5.0.7', nodes('>=22.9')]),
    '/undici': registered('undici', [locked('undici'), {}], ['8.0.0', {}]),
    '/write-file-atomic': registered(
      'write-file-atomic',
      [locked('write-file-atomic'), {}],
      ['8.0.0', {}],
    ),
    ...Object.fromEntries(
      ['csv-parse', 'js-yaml', 're2js', 'ws'].map((name) => [
        `/${name}`,
        registered(name, [locked(name), {}]),
      ]),
    ),
  };
}

const red = (card: Scorecard): string[] =>
  Object.keys(card)
    .filter((name) => !card[name]?.test)
    .sort();

const CHECKS = 'D01 D02 D03 N01 N02 P01 P03 P04 P05 P06 P07 P08'.split(' ');
/** Why it is not green is in the page about dependencies. */
const NOT_GREEN = 'D03';
/** What the release workflow writes into package.json (P03), since only there it is known. */
const REPOSITORY = { type: 'git', url: 'git+https://git.example/owner/name.git' };

describe("the Flow Library's scorecard", () => {
  it('passes except for the exception that the docs explain', async () => {
    assert.match(
      read('.github/workflows/release.yml'),
      /npm pkg set repository\.type=git "repository\.url=git\+/,
    );
    const folder = join(installedCopy('scorecard'), 'node_modules', manifest.name);
    const released = JSON.stringify({ ...manifest, repository: REPOSITORY });
    await writeFile(join(folder, 'package.json'), released);
    const card = await scorecard(await installScorecard(), folder, world());
    assert.deepEqual(Object.keys(card).sort(), CHECKS);
    assert.deepEqual(red(card), [NOT_GREEN]);
    assert.deepEqual(card['D03']?.['packages'], ['undici', 'write-file-atomic']);
    assert.deepEqual((card['N02']!['nodes'] as string[]).sort(), withInputs);
    assert.deepEqual(card['P06']?.['versions'], ['5.0.7', '4.1.15']);
    assert.ok(read('docs/inside/dependencies.md').includes(`**${NOT_GREEN}**`));
    assert.ok(manifest.keywords.includes('node-red'), 'P05');
  });
});
