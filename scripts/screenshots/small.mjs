import { createRequire } from 'node:module';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from '../npm.mjs';

const folder = join(root, '.cache', 'sharp');

/** Only these pictures need it, so it is installed when they are made, and is no dependency. */
export function sharp() {
  if (!existsSync(join(folder, 'node_modules', 'sharp'))) {
    console.log('Installing sharp, which makes the pictures small …');
    mkdirSync(folder, { recursive: true });
    npm([
      'install',
      '--no-save',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--prefix',
      folder,
      'sharp',
    ]);
  }
  return createRequire(join(folder, 'package.json'))('sharp');
}

/** Writes a picture with a few colours, as a dialog has: the repository carries each version of it. */
export async function writeSmall(picture, path, colours = 32) {
  await sharp()(picture).png({ palette: true, colours, effort: 10 }).toFile(path);
}
