import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../../tooling/repository';

/** However it is spelled: `from '…'`, `import '…'`, `import('…')` of a module or of a type, `require('…')`. */
const IMPORT = /\b(?:from|import|require)\b\s*\(?\s*(['"`])(\.[^'"`]*)\1/g;

/** The files of the repository that a file imports, for its types as well. */
export function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const imported = [...text.matchAll(IMPORT)].map(([, , name]) =>
    join(dirname(path), String(name).replace(/\.[jt]s$/, '')),
  );
  return imported.flatMap((name) =>
    [`${name}.ts`, `${name}.d.ts`, join(name, 'index.ts')].filter((file) => existsSync(file)),
  );
}

/** The TypeScript in some folders of the repository. */
export const filesIn = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(repository, folder, name)),
  );
