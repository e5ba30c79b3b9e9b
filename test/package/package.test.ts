import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { npm } from '../e2e/harness/packed';
import { repository } from '../tooling/repository';
import { temporaryFolder } from '../tooling/temporary-folder';

const execute = promisify(execFile);

interface Packed {
  filename: string;
  size: number;
  files: { path: string; size: number }[];
}

interface Manifest {
  version: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional?: boolean }>;
  'node-red': { nodes: Record<string, string> };
}

const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as Manifest;

/** What a build and a pack read, and nothing else: neither a dist nor anything that git ignores. */
const NEEDED = [
  ...['src', 'nodes', 'icons', 'examples', 'build.mjs', 'tsconfig.json', 'tsconfig.editor.json'],
  ...['package.json', 'README.md', 'README.zh-CN.md', 'CHANGELOG.md', 'LICENSE'],
  ...['scripts/readme-addresses.mjs', 'scripts/npm.mjs'],
];

const ORIGIN = 'https://git.example.com/someone/some-repository';
const SITE = 'https://docs.example.com/some-repository';

describe('the package as it is published', () => {
  let copy: string;
  let packed: Packed;
  const text = (path: string): string => readFileSync(join(copy, path), 'utf8');

  before(async () => {
    copy = temporaryFolder('fresh');
    for (const name of NEEDED) {
      await cp(join(repository, name), join(copy, name), { recursive: true });
    }
    await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'), 'junction');
    // As a release does.
    const named = {
      ...{ ...manifest, homepage: `${SITE}/` },
      repository: { type: 'git', url: `git+${ORIGIN}.git` },
    };
    await writeFile(join(copy, 'package.json'), JSON.stringify(named, null, 2));
    // With its scripts, as `npm publish` does: the build of a release is part of what is tested.
    const out = await npm(['pack', '--json', '--foreground-scripts=false'], copy);
    [packed] = JSON.parse(out.slice(out.indexOf('['))) as [Packed];
  });

  it('runs nothing on the machine that it is installed on', () => {
    for (const step of ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']) {
      assert.equal(manifest.scripts[step], undefined, step);
    }
    // npm would compile with this file, without being asked.
    assert.ok(!packed.files.some(({ path }) => path === 'binding.gyp'));
    for (const name of Object.keys(manifest.dependencies)) {
      const path = join(repository, 'node_modules', name, 'package.json');
      const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Manifest>;
      for (const step of ['preinstall', 'install', 'postinstall']) {
        assert.equal(scripts[step], undefined, `${name}: ${step}`);
      }
    }
  });

  it('contains what a user needs, and nothing else', () => {
    const allowed = [
      /^(package\.json|README(\.zh-CN)?\.md|LICENSE|CHANGELOG\.md)$/,
      /^examples\/[^/]+\/[^/]+\.json$/,
      /^dist\/src\/.+\.(js|d\.ts)$/,
      /^dist\/nodes\/[^/]+\/(.+\.js|[^/]+\.html|locales\/.+\.(json|html)|icons\/.+\.svg)$/,
    ];
    const paths = packed.files.map(({ path }) => path);
    const strange = paths.filter((path) => !allowed.some((each) => each.test(path)));
    assert.deepEqual(strange, []);
    for (const [name, path] of Object.entries(manifest['node-red'].nodes)) {
      // The Flow Library looks for an icon beside the node's file, and nowhere else.
      const icon = `${dirname(path)}/icons/device-cloud-${name}.svg`;
      for (const file of [path, path.replace(/js$/, 'html'), icon]) {
        assert.ok(paths.includes(file), file);
      }
    }
  });

  for (const [readme, errors] of [
    ['README.md', 'errors.md'],
    ['README.zh-CN.md', 'errors.zh-CN.md'],
  ] as const) {
    it(`has a ${readme} whose addresses are those of the release, wherever it is read`, async () => {
      const tarball = join(copy, packed.filename);
      const { stdout } = await execute('tar', ['-xOzf', tarball, `package/${readme}`]);
      const links = [...stdout.matchAll(/(!?)\[[^\]]*\]\(([^)]+)\)/g)];
      const tag = `v${manifest.version}`;
      for (const [all, mark, address = ''] of links) {
        if (mark) assert.ok(address.startsWith(`${ORIGIN}/raw/${tag}/`), all);
        else assert.match(address, /^(https:|#)/, all);
        const [, path] = address.split(`/${tag}/`);
        if (path) assert.ok(existsSync(join(repository, path.replace(/#.*/, ''))), path);
      }
      assert.equal(links.filter(([, mark]) => mark).length, 2);
      assert.ok(stdout.includes(`](${ORIGIN}/blob/${tag}/docs/use/${errors})`));
      assert.ok(stdout.includes(`](${SITE}/${errors.includes('zh-CN') ? 'zh/' : ''})`), 'the site');
      const kept = readFileSync(join(repository, readme), 'utf8');
      assert.equal(text(readme), kept, 'the README of the working tree is as it was');
    });
  }

  it('has helps that lead to the site of the documentation, in their language', () => {
    for (const [language, page] of [
      ['en-US', 'use/devices#commands-that-wait'],
      ['zh-CN', `zh/use/devices#${encodeURI('等待设备的指令')}`],
    ] as const) {
      const help = text(`dist/nodes/push/locales/${language}/push.html`);
      const links = [...help.matchAll(/\]\(([^)]*)\)/g)].map(([, link = '']) => link);
      assert.ok(links.includes(`${SITE}/${page}`), language);
      for (const link of links) assert.ok(link.startsWith(`${SITE}/`), link);
    }
  });

  // The client, its simulator and their declarations are half of it, the nodes and their texts in two languages a third.
  it('is under 950 kB', () => {
    assert.ok(packed.size > 50_000 && packed.size < 950_000, `${packed.size} bytes`);
  });

  it('refers to no source map or source that it does not contain', () => {
    for (const { path } of packed.files.filter((file) => /\.(js|html)$/.test(file.path))) {
      assert.doesNotMatch(text(path), /sourceMappingURL/, path);
    }
    for (const { path } of packed.files.filter((file) => file.path.endsWith('.d.ts'))) {
      for (const [, name = ''] of text(path).matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
        const target = join(copy, dirname(path), name);
        const found = ['.d.ts', '/index.d.ts'].some((end) => existsSync(target + end));
        assert.ok(found, `${path}: ${name}`);
      }
    }
  });

  it('depends on six packages, of which two need one more each', () => {
    const { packages } = JSON.parse(
      readFileSync(join(repository, 'package-lock.json'), 'utf8'),
    ) as { packages: Record<string, { dev?: boolean }> };
    const installed = Object.keys(packages).filter((path) => path && !packages[path]?.dev);
    assert.deepEqual(
      installed.map((path) => path.replace('node_modules/', '')),
      [
        ...['argparse', 'csv-parse', 'js-yaml', 're2js'],
        ...['signal-exit', 'undici', 'write-file-atomic', 'ws'],
      ],
    );
    assert.deepEqual(Object.keys(manifest.dependencies), [
      ...['csv-parse', 'js-yaml', 're2js'],
      ...['undici', 'write-file-atomic', 'ws'],
    ]);
  });
});
