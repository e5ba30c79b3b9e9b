import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isContributed } from './allowed';
import { FlowError } from './flows';

interface Manifest {
  readonly name?: string;
  readonly 'node-red'?: { readonly nodes?: Readonly<Record<string, string>> };
}

/** A package that has nodes. */
export interface Contributed {
  readonly name: string;
  readonly folder: string;
}

/** Folders of packages in a `node_modules`, scopes included. */
function packagesIn(modules: string): string[] {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) => {
    const folder = join(modules, name);
    if (!name.startsWith('@')) return [folder];
    return readdirSync(folder).map((inside) => join(folder, inside));
  });
}

/** Whether a package has a node of a type. The editor half says so; the other half would have to be run. */
function provides(folder: string, type: string): Contributed | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const { name, 'node-red': nodeRed } = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  const halves = Object.values(nodeRed?.nodes ?? {}).map((path) =>
    join(folder, path.replace(/\.[cm]?js$/, '.html')),
  );
  const quoted = [`"${type}"`, `'${type}'`];
  const isIn = (half: string): boolean => {
    const text = existsSync(half) ? readFileSync(half, 'utf8') : '';
    return quoted.some((each) => text.includes(each));
  };
  return name !== undefined && halves.some(isIn)
    ? { name, folder: realpathSync(folder) }
    : undefined;
}

/** The `node_modules` that a folder sees: its own, and those above. */
export function modulesSeen(folder: string): string[] {
  const own = join(folder, 'node_modules');
  return dirname(folder) === folder ? [own] : [own, ...modulesSeen(dirname(folder))];
}

/**
 * Finds the packages that have the nodes that are allowed and are not Node-RED's own.
 * @param folders of the flows, and of the project
 * @throws FlowError if a type is in none of them
 */
export function findContributed(
  types: readonly string[],
  folders: readonly string[],
): Contributed[] {
  const modules = [...new Set(folders.flatMap((folder) => modulesSeen(realpathSync(folder))))];
  const found = types.filter(isContributed).map((type) => {
    for (const each of modules.flatMap(packagesIn)) {
      const known = provides(each, type);
      if (known) return known;
    }
    throw new FlowError(
      `--allow ${type}: no package with this node is installed in ${folders.join(' or ')}.`,
    );
  });
  return [...new Map(found.map((each) => [each.name, each])).values()];
}
