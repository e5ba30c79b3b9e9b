import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, run } from './npm.mjs';

/**
 * Builds another commit below `.cache`, once, with the packages that are installed here: a commit that needs others is
 * installed by hand, as `npm ci` in its folder.
 * @param ref anything that names a commit
 * @returns the folder
 */
export function checkout(ref) {
  const commit = run('git', [
    'rev-parse',
    '--verify',
    '--end-of-options',
    `${ref}^{commit}`,
  ]).trim();
  const folder = join(root, '.cache', 'commits', commit);
  const built = join(folder, 'dist', 'src', 'index.js');
  if (existsSync(built)) return folder;
  console.log(`Building ${ref} in ${folder} …`);
  if (!existsSync(folder)) {
    run('git', ['worktree', 'prune']);
    run('git', ['worktree', 'add', '--detach', folder, commit]);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  }
  try {
    npm(['run', 'build'], { cwd: folder });
  } catch (error) {
    rmSync(join(folder, 'dist'), { recursive: true, force: true });
    throw error;
  }
  return folder;
}
