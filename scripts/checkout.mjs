import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, run } from './npm.mjs';

/**
 * Builds another commit in a worktree of its own below `.cache`, once.
 * @param ref anything that names a commit
 * @returns the folder
 */
export function checkout(ref) {
  const commit = run('git', ['rev-parse', '--verify', `${ref}^{commit}`]).trim();
  const folder = join(root, '.cache', 'commits', commit);
  const built = join(folder, 'dist', '.built');
  if (existsSync(built)) return folder;
  console.log(`Building ${ref} in ${folder} …`);
  // A folder that was left halfway, or that was deleted by hand.
  rmSync(folder, { recursive: true, force: true });
  run('git', ['worktree', 'prune']);
  run('git', ['worktree', 'add', '--detach', folder, commit]);
  const lock = (of) => readFileSync(join(of, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(root)) {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  } else npm(['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: folder });
  npm(['run', 'build'], { cwd: folder });
  writeFileSync(built, '');
  return folder;
}
