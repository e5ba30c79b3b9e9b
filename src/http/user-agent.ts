import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
}

const UNKNOWN: Manifest = { name: 'node-red-device-cloud', version: '0' };

/** Whether a name or version is valid in a User-Agent, which must not contain the word robot (section 4.2, rule 5). */
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.+-]+$/.test(value) && !/robot/i.test(value);

/**
 * Reads the name and the version of a manifest. In a program that bundles this package, the nearest manifest is that of
 * the program, which may be incomplete: invalid values are replaced by the defaults.
 */
export function readManifest(text: string): Manifest {
  const { name, version } = Object(JSON.parse(text)) as { name?: unknown; version?: unknown };
  // The `@` and `/` of a scope are invalid in a User-Agent.
  const bare = typeof name === 'string' ? name.replace(/^.*\//, '') : undefined;
  return {
    name: isToken(bare) ? bare : UNKNOWN.name,
    version: isToken(version) ? version : UNKNOWN.version,
  };
}

/** The manifest of the package that contains this file, at any depth. */
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
