import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './npm.mjs';

const FOLDER = join(root, 'examples');

/**
 * The examples in the order of the import menu, whose folders begin with a number for that. `name` is what the menu calls an
 * example, `title` its folder without the number.
 */
export const examples = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.json'))
  .map((path) => ({
    folder: dirname(path),
    title: dirname(path).replace(/^\d+ /, ''),
    name: basename(path, '.json'),
    flow: JSON.parse(readFileSync(join(FOLDER, path), 'utf8')),
  }))
  .sort((a, b) => a.folder.localeCompare(b.folder) || a.name.localeCompare(b.name));
