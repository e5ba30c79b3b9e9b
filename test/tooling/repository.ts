import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function above(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : above(dirname(folder));
}

/** Folder of the repository: the nearest with a package.json above the compiled tests. */
export const repository = above(__dirname);
