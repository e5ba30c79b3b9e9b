import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { npm, root, run, SetupError } from './npm.mjs';

/** @throws SetupError if it names none */
function commitOf(ref) {
  const what = ['--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const { status, stdout } = spawnSync('git', ['rev-parse', ...what], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  throw new SetupError(`"${ref}" is no commit, branch or tag of this repository.`);
}

/** The files of a commit, without a worktree that git would have to know of. */
function extract(commit, folder) {
  const index = join(folder, '.index');
  const options = { env: { ...process.env, GIT_INDEX_FILE: index } };
  run('git', ['read-tree', commit], options);
  run('git', ['checkout-index', '--all', `--prefix=${folder}${sep}`], options);
  rmSync(index);
}

/** Whether all that a folder's lock file asks for is installed here. */
function sharesPackages(folder) {
  const packages = (of) => JSON.parse(readFileSync(join(of, 'package-lock.json'), 'utf8')).packages;
  const here = packages(root);
  return Object.entries(packages(folder)).every(
    ([path, { version }]) => path === '' || here[path]?.version === version,
  );
}

/**
 * Builds another commit below `.cache`, once. What is not finished is removed when this process ends.
 * @param ref anything that names a commit
 * @returns the folder
 */
export function checkout(ref) {
  const commit = commitOf(ref);
  const folder = join(root, '.cache', 'commits', commit);
  if (existsSync(folder)) return folder;
  console.log(`Building ${ref} in ${folder} …`);
  const building = `${folder}-${process.pid}`;
  process.once('exit', () => rmSync(building, { recursive: true, force: true }));
  mkdirSync(building, { recursive: true });
  extract(commit, building);
  if (sharesPackages(building)) {
    symlinkSync(join(root, 'node_modules'), join(building, 'node_modules'), 'junction');
  } else npm(['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: building });
  npm(['run', 'build'], { cwd: building });
  renameSync(building, folder);
  return folder;
}
