import assert from 'node:assert/strict';
import { dirname, join, relative, sep } from 'node:path';
import { repository } from '../tooling/repository';
import { filesIn, importsOf } from './support/imports';

const files = filesIn(['src', 'nodes']);

/** Other versions of Node-RED are installed beside the folders of the tests. */
const TESTS = ['src', 'nodes', 'package', 'e2e', 'editor', 'soak'].map((name) => `test/${name}`);

/** Files, or folders, that import each other in a circle, in the order of their imports. */
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

/** What the folders of a place import of each other. Files beside them are in none. */
function folderImports(place: string): Map<string, string[]> {
  const folderOf = (file: string): string => relative(place, dirname(file)).split(sep)[0] ?? '';
  const isFolder = (name: string): boolean => name !== '' && name !== '..';
  const imports = new Map<string, string[]>();
  for (const file of files) {
    const folder = folderOf(file);
    if (!isFolder(folder)) continue;
    const others = importsOf(file).map(folderOf);
    const known = imports.get(folder) ?? [];
    imports.set(folder, [
      ...known,
      ...others.filter((other) => isFolder(other) && other !== folder),
    ]);
  }
  return imports;
}

describe('imports', () => {
  for (const [of, all] of [
    ['of the package', files],
    ['of tests, benchmarks and what they share', filesIn([...TESTS, 'bench'])],
  ] as const) {
    it(`${of} are not circular`, () => {
      const imports = new Map(all.map((file) => [file, importsOf(file)]));
      assert.ok([...imports.values()].flat().length > all.length, 'imports were found');
      const circle = findCircle(imports).map((file) => file.slice(repository.length + 1));
      assert.deepEqual(circle, []);
    });
  }

  for (const [place, least] of [
    ['src', 10],
    ['nodes', 15],
  ] as const) {
    it(`go one way between the folders of ${place}`, () => {
      const imports = folderImports(join(repository, place));
      assert.ok(imports.size >= least, 'folders were found');
      assert.deepEqual(findCircle(imports), []);
    });
  }
});
