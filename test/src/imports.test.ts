import assert from 'node:assert/strict';
import { repository } from '../tooling/repository';
import { filesIn, importsOf } from './support/imports';

const files = filesIn(['src', 'nodes']);

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
});
