import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function above(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : above(dirname(folder));
}

/** Folder of the package: the nearest with a package.json above the compiled soak. */
export const PACKAGE = above(__dirname);
