import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { npm, temporary } from '../e2e/harness/packed';
import { repository } from '../../tooling/repository';

interface Packed {
  filename: string;
  size: number;
  files: { path: string; size: number }[];
}

interface Manifest {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  'node-red': { nodes: Record<string, string> };
}

const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as Manifest;

/** What a build and a pack read, and nothing else: neither a dist nor anything that git ignores. */
const NEEDED = [
  ...['src', 'nodes', 'icons', 'examples', 'build.mjs', 'tsconfig.json', 'tsconfig.editor.json'],
  ...['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'],
];

describe('the package as it is published', () => {
  let copy: string;
  let packed: Packed;
  const text = (path: string): string => readFileSync(join(copy, path), 'utf8');

  before(async () => {
    copy = join(await temporary(), 'fresh');
    await mkdir(copy);
    for (const name of NEEDED) {
      await cp(join(repository, name), join(copy, name), { recursive: true });
    }
    await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'), 'junction');
    // With its scripts, as `npm publish` does: the build of a release is part of what is tested.
    const out = await npm(['pack', '--json', '--foreground-scripts=false'], copy);
    [packed] = JSON.parse(out.slice(out.indexOf('['))) as [Packed];
  });

  it('runs nothing on the machine of who installs it', () => {
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

  it('holds what a user needs, and nothing else', () => {
    const allowed = [
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
      /^examples\/[^/]+\.json$/,
      /^resources\/[a-z]+\.(en-US|zh-CN)\.png$/,
      /^dist\/src\/.+\.(js|d\.ts)$/,
      /^dist\/nodes\/[^/]+\/(.+\.js|[^/]+\.html|locales\/.+\.(json|html)|icons\/.+\.svg)$/,
    ];
    const paths = packed.files.map(({ path }) => path);
    const strange = paths.filter((path) => !allowed.some((each) => each.test(path)));
    assert.deepEqual(strange, []);
    for (const path of Object.values(manifest['node-red'].nodes)) {
      for (const file of [path, path.replace(/js$/, 'html')]) {
        assert.ok(paths.includes(file), file);
      }
    }
  });

  it('is under 300 kB', () => {
    assert.ok(packed.size > 50_000 && packed.size < 300_000, `${packed.size} bytes`);
  });

  it('names no source map and no source that is not in it', () => {
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

  it('brings undici and ws along, and nothing that they would bring', () => {
    const { packages } = JSON.parse(
      readFileSync(join(repository, 'package-lock.json'), 'utf8'),
    ) as { packages: Record<string, { dev?: boolean }> };
    const installed = Object.keys(packages).filter((path) => path && !packages[path]?.dev);
    assert.deepEqual(installed, ['node_modules/undici', 'node_modules/ws']);
    assert.deepEqual(Object.keys(manifest.dependencies), ['undici', 'ws']);
  });

  it('lists the licences of what is installed with it', () => {
    const page = readFileSync(join(repository, 'docs', 'licenses.md'), 'utf8');
    const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; license?: string }>;
    };
    for (const name of Object.keys(manifest.dependencies)) {
      const { version, license = '' } = lock.packages[`node_modules/${name}`]!;
      assert.match(page, new RegExp(`\\| \`${name}\` +\\| ${version} +\\| ${license} +\\|`), name);
    }
  });
});
