import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository } from '../tooling/repository';

/** However it is spelled: `from '…'`, `import '…'`, `import('…')` of a module or of a type, `require('…')`. */
const IMPORT = /\b(?:from|import|require)\b\s*\(?\s*(['"`])(\.[^'"`]*)\1/g;

/** The files of the repository that a file imports, for its types as well. */
function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const imported = [...text.matchAll(IMPORT)].map(([, , name]) =>
    join(dirname(path), String(name).replace(/\.[jt]s$/, '')),
  );
  return imported.flatMap((name) =>
    [`${name}.ts`, `${name}.d.ts`, join(name, 'index.ts')].filter((file) => existsSync(file)),
  );
}

/** The TypeScript in some folders of the repository. */
const filesIn = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(repository, folder, name)),
  );

/** A file by its path in the repository, and what it imports, however that is spelled. */
interface Imports {
  readonly file: string;
  readonly imported: readonly string[];
}

const pathOf = (file: string): string => relative(repository, file).replaceAll(sep, '/');

const IMPORTS: readonly Imports[] = filesIn([
  'src',
  'flow-test',
  'nodes',
  'test/tooling',
  'bench',
]).map((file) => ({
  file: pathOf(file),
  imported: importsOf(file).map(pathOf),
}));

/** What the browser loads: nothing in it needs Node.js. */
const EDITOR = 'nodes/(.+\\.(editor|config)|common/editor/.+)\\.ts$';

/** Files that import none of some others, except for what is named. */
const WALLS: readonly {
  readonly of: string;
  readonly files: RegExp;
  readonly never: RegExp;
  readonly except?: readonly string[];
}[] = [
  { of: 'src/', files: /^src\//, never: /^(?!src\/)/ },
  {
    of: 'the client',
    files: /^src\/(?!simulator\/|cli\.ts$)/,
    never: /^src\/(simulator\/|cli\.ts$)/,
  },
  {
    of: 'the cluster, which a process alone does not load,',
    files: /^(?!src\/(cluster\/|cluster-client\.ts$))/,
    never: /^src\/cluster\//,
  },
  {
    of: 'the command line',
    files: /^src\/cli\.ts$/,
    never: /^(?!src\/(index|simulator\/index|util\/show)\.ts$)/,
  },
  {
    of: 'src/types.ts and src/errors.ts',
    files: /^src\/(types|errors)\.ts$/,
    never: /^src\/(?!(types|errors)\.ts$)/,
  },
  {
    of: 'the simulator',
    files: /^src\/simulator\//,
    never: /^src\/(?!simulator\/|protocol\/|util\/|(types|errors)\.ts$)/,
  },
  { of: 'nodes/', files: /^nodes\//, never: /^(?!nodes\/|src\/)/ },
  {
    of: 'nodes/, of the client',
    files: /^nodes\//,
    never: /^src\/(?!index\.ts$)/,
    except: [
      'nodes/app/application.ts imports src/cluster-client.ts',
      'nodes/app/simulator.ts imports src/simulator/index.ts',
      'nodes/type/type.editor.ts imports src/fleet/types.ts',
      'nodes/type/type.editor.ts imports src/fleet/limits.ts',
    ],
  },
  {
    of: 'flow-test/',
    files: /^flow-test\//,
    never: /^(?!flow-test\/|src\/(index|simulator\/index)\.ts$)/,
  },
  { of: 'nodes/common/', files: /^nodes\/common\//, never: /^nodes\/(?!common\/)/ },
  {
    of: 'the editor halves',
    files: new RegExp(`^${EDITOR}`),
    never: new RegExp(`^(?!${EDITOR})`),
    except: [
      // Types alone.
      'nodes/app/answers.config.ts imports src/index.ts',
      // They import nothing themselves.
      'nodes/type/type.editor.ts imports src/fleet/types.ts',
      'nodes/type/type.editor.ts imports src/fleet/limits.ts',
    ],
  },
  {
    of: 'test/tooling/',
    files: /^test\/tooling\//,
    never: /^(test\/(?!tooling\/)|bench|scripts|demo)/,
  },
  { of: 'bench/', files: /^bench\//, never: /^test\/(?!tooling\/)/ },
];

/** The folders of src/ from the bottom up, as in the rules of oxlint, which go by the spelling of an import. */
async function foldersOfLint(): Promise<readonly string[]> {
  const { FOLDERS } = (await import(
    pathToFileURL(join(repository, 'oxlint.walls.mjs')).href
  )) as Readonly<Record<'FOLDERS', readonly string[]>>;
  return FOLDERS;
}

const violations = (isAllowed: (file: string, imported: string) => boolean): string[] =>
  IMPORTS.flatMap(({ file, imported }) =>
    imported.filter((other) => !isAllowed(file, other)).map((other) => `${file} imports ${other}`),
  );

/** Other versions of Node-RED are installed beside the folders of the tests. */
const TESTS = ['src', 'nodes', 'package', 'e2e', 'editor', 'soak'].map((name) => `test/${name}`);

/** Files that import each other in a circle, in the order of their imports. */
function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    path.push(file);
    for (const each of imports.get(file) ?? []) {
      const circle = visit(each);
      if (circle.length > 0) return circle;
    }
    path.pop();
    done.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const circle = visit(file);
    if (circle.length > 0) return circle;
  }
  return [];
}

describe('walls', () => {
  for (const { of, files, never, except = [] } of WALLS) {
    it(`of ${of} hold`, () => {
      assert.ok(
        IMPORTS.some(({ file }) => files.test(file)),
        'files were found',
      );
      const found = violations((file, other) => !files.test(file) || !never.test(other));
      assert.deepEqual([...new Set(found)], except);
    });
  }

  it('between the rooms of src are passed downwards alone', async () => {
    const rooms = await foldersOfLint();
    const heightOf = (file: string): number | undefined => {
      const [place, first = '', ...rest] = file.split('/');
      // The simulator is no room of the client.
      if (place !== 'src' || first === 'simulator') return undefined;
      const room = /^(types|errors)\.ts$/.test(first) ? 'util' : first;
      // What lies beside the rooms is above them.
      if (room === first && rest.length === 0) return rooms.length;
      assert.ok(rooms.includes(room), `src/${room} is listed`);
      return rooms.indexOf(room);
    };
    const found = violations((file, other) => {
      const [from, to] = [heightOf(file), heightOf(other)];
      return from === undefined || to === undefined || to <= from;
    });
    assert.deepEqual(found, []);
  });
});

describe('imports', () => {
  for (const [of, all] of [
    ['of the package', filesIn(['src', 'nodes'])],
    ['of tests, benchmarks and what they share', filesIn([...TESTS, 'bench'])],
  ] as const) {
    it(`${of} are not circular`, () => {
      const imports = new Map(all.map((file) => [file, importsOf(file)]));
      assert.ok([...imports.values()].flat().length > all.length, 'imports were found');
      assert.deepEqual(findCircle(imports).map(pathOf), []);
    });
  }
});
