import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { userDirWithPackage } from '../e2e/harness/packed';
import { repository } from '../tooling/repository';
import { installScorecard, scorecard } from './scorecard';
import type { Scorecard } from './scorecard';
import type { World } from './stub';

interface Manifest {
  name: string;
  keywords: string[];
  dependencies: Record<string, string>;
  engines: Record<string, string>;
  'node-red': { version?: string; nodes: Record<string, string> };
  license?: string;
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

/**
 * The newest undici and write-file-atomic are of version 8, and the others' the ones that the lock has.
 * @param ofFirst dependencies of the first dependency, the only one whose tree the tool looks at
 */
function world(catalogue: object[] = [], ofFirst: object = {}): World {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string }>;
  };
  const locked = (name: string): string => packages[`node_modules/${name}`]!.version;
  const nodes = (node: string): object => ({ engines: { node } });
  return {
    '/catalogue.json': { modules: catalogue },
    '/node-red': registered('node-red', ['4.1.15', nodes('>=18.5')], ['5.0.7', nodes('>=22.9')]),
    '/undici': registered('undici', [locked('undici'), {}], ['8.0.0', {}]),
    '/write-file-atomic': registered(
      'write-file-atomic',
      [locked('write-file-atomic'), {}],
      ['8.0.0', {}],
    ),
    ...Object.fromEntries(
      ['ws', 'js-yaml', 're2js'].map((name) => [`/${name}`, registered(name, [locked(name), {}])]),
    ),
    '/csv-parse': registered('csv-parse', [locked('csv-parse'), { dependencies: ofFirst }]),
    '/agent-base': registered('agent-base', ['5.0.0', {}]),
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
/** Always green, by a mistake of the tool: one sets the same in both cases, the other compares arrays. */
const CANNOT_FAIL = ['P05', 'P08'];

describe("the Flow Library's scorecard", () => {
  let tool: string;
  const installed = async (name: string): Promise<string> =>
    join(await userDirWithPackage(name), 'node_modules', manifest.name);

  before(async () => {
    tool = await installScorecard();
  });

  it('passes except for the exception that the docs explain', async () => {
    assert.match(
      read('.github/workflows/release.yml'),
      /npm pkg set repository\.type=git "repository\.url=git\+/,
    );
    const folder = await installed('scorecard');
    const released = JSON.stringify({ ...manifest, repository: REPOSITORY });
    await writeFile(join(folder, 'package.json'), released);
    const card = await scorecard(tool, folder, world());
    assert.deepEqual(Object.keys(card).sort(), CHECKS);
    assert.deepEqual(red(card), [NOT_GREEN]);
    assert.deepEqual(card['D03']?.['packages'], ['undici', 'write-file-atomic']);
    assert.deepEqual((card['N02']!['nodes'] as string[]).sort(), withInputs);
    assert.deepEqual(card['P06']?.['versions'], ['5.0.7', '4.1.15']);
    assert.ok(read('docs/inside/dependencies.md').includes(`**${NOT_GREEN}**`));
    assert.ok(manifest.keywords.includes('node-red'), 'P05');
  });

  it('turns red at each fault, and reads the types of all nodes and examples', async () => {
    const folder = await installed('scorecard-faults');
    const examples = join(folder, 'examples');
    const inFolders = await readdir(examples, { recursive: true });
    for (const file of inFolders.filter((each) => each.endsWith('.json'))) {
      const text = await readFile(join(examples, file), 'utf8');
      if (text.includes('"device-cloud-reboot"')) await rm(join(examples, file));
    }
    const many = ['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'file:.']);
    const faulty: Manifest = {
      ...manifest,
      name: 'node-red-device-cloud',
      keywords: [],
      engines: { node: '>=24' },
      dependencies: { ...manifest.dependencies, ...(Object.fromEntries(many) as object) },
      'node-red': { ...manifest['node-red'], version: '>=6' },
    };
    delete faulty.license;
    await writeFile(join(folder, 'package.json'), JSON.stringify(faulty));
    const others = types.map((type) => ({ id: `other-${type}`, types: ['inject', type] }));
    const elsewhere = { id: '@other/node-red-device-cloud', types: [] };
    const bad = world([...others, elsewhere], { 'agent-base': '^5.0.0' });

    const card = await scorecard(tool, folder, bad);
    assert.deepEqual(
      red(card),
      CHECKS.filter((name) => !CANNOT_FAIL.includes(name)),
    );
    const taken = card['N01']?.['nodes'] as string[];
    assert.deepEqual(taken.sort(), types.map((type) => `other-${type}`).sort());
    const shown = withInputs.filter((type) => type !== 'device-cloud-reboot');
    assert.deepEqual((card['N02']!['nodes'] as string[]).sort(), shown);
  });

  it('fails on a request that is not expected', async () => {
    const smaller = world();
    delete smaller['/ws'];
    await assert.rejects(scorecard(tool, await installed('scorecard-asks'), smaller), /\/ws/);
  });
});
