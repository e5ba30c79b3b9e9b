import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../tooling/repository';

/** The texts of a catalogue by their full keys. */
export type Texts = Record<string, string>;

/** The folders of nodes/ that are nodes. */
export const NODES = readdirSync(join(repository, 'nodes')).filter(
  (name) => !['common', 'fleet-sidebar', 'tsconfig.json'].includes(name),
);

/** The folders of nodes/ with texts and no help: plugins of the editor. */
export const PLUGINS = ['fleet-sidebar'];

export function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

function flat(value: unknown, path = ''): Texts {
  if (typeof value === 'string') return { [path]: value };
  const entries = Object.entries(value as Record<string, unknown>);
  return Object.assign(
    {},
    ...entries.map(([key, child]) => flat(child, path === '' ? key : `${path}.${key}`)),
  ) as Texts;
}

/** What Node-RED gets: a node's own texts and the shared ones. */
export const catalogue = (node: string, language: string): Texts =>
  flat(JSON.parse(read(`dist/nodes/${node}/locales/${language}/${node}.json`)));

/** The texts that stand in one folder, of a node or of what is shared. */
export const ownTexts = (folder: string, language: string): Texts =>
  flat(JSON.parse(read(`nodes/${folder}/locales/${language}.json`)));
