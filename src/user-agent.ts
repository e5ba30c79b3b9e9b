import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
}

/** The manifest of the package that this file lies in, however deep. */
function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    const parent = dirname(folder);
    return parent === folder
      ? { name: 'node-red-device-cloud', version: '0' }
      : readManifest(parent);
  }
}

const manifest = readManifest(__dirname);

export const VERSION = manifest.version;

/** Section 4.2, rule 5: clients send their own User-Agent. A scope's `@` and `/` have no place in one. */
export const USER_AGENT = `${manifest.name.replace(/^.*\//, '')}/${manifest.version}`;
