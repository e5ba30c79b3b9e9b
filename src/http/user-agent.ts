import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
}

const UNKNOWN: Manifest = { name: 'node-red-device-cloud', version: '0' };

/** What may stand in a User-Agent; section 4.2, rule 5, has the word robot avoided. */
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.+-]+$/.test(value) && !/robot/i.test(value);

/**
 * Name and version of a manifest. A program that bundles this package may have anything in its own,
 * which then is the nearest: what cannot be used is left out.
 */
export function readManifest(text: string): Manifest {
  const { name, version } = Object(JSON.parse(text)) as { name?: unknown; version?: unknown };
  // A scope's `@` and `/` have no place in a User-Agent.
  const bare = typeof name === 'string' ? name.replace(/^.*\//, '') : undefined;
  return {
    name: isToken(bare) ? bare : UNKNOWN.name,
    version: isToken(version) ? version : UNKNOWN.version,
  };
}

/** The manifest of the package that this file lies in, however deep. */
function nearestManifest(folder: string): Manifest {
  try {
    return readManifest(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    const parent = dirname(folder);
    return parent === folder ? UNKNOWN : nearestManifest(parent);
  }
}

const manifest = nearestManifest(__dirname);

/** Section 4.2, rule 5: clients send their own User-Agent. */
export const USER_AGENT = `${manifest.name}/${manifest.version}`;
