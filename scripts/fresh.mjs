import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './npm.mjs';

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes `.package-lock.json` as
 * the last thing of an install, so it is a stamp that is right whichever npm command a person has
 * used, and missing after an install that was broken off.
 */
export function dependenciesAreFresh() {
  const lock = readJson('package-lock.json');
  const installed = readJson('node_modules/.package-lock.json');
  if (!lock || !installed) return false;
  if (!sameDependencies(readJson('package.json'), lock.packages[''])) return false;
  return Object.entries(lock.packages).every(([path, wanted]) => {
    // Optional packages are the binaries of other platforms, and may be missing.
    const found = path === '' ? wanted : installed.packages[path];
    return found ? found.version === wanted.version : Boolean(wanted.optional);
  });
}

function sameDependencies(manifest, locked) {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every(
    (kind) => JSON.stringify(sorted(manifest[kind])) === JSON.stringify(sorted(locked[kind])),
  );
}

const sorted = (dependencies = {}) => Object.entries(dependencies).sort();

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'));
  } catch {
    return undefined;
  }
}

const SOURCES = ['src', 'nodes', 'test', 'bench', 'icons'];
const SETTINGS = /^(build\.mjs|package(-lock)?\.json|tsconfig.*\.json)$/;
const STAMP = join(root, 'dist', '.sources');

/** Whether dist was built from the sources as they are now. */
export function buildIsFresh(hash) {
  const { main, 'node-red': nodeRed } = readJson('package.json');
  const outputs = [main, ...Object.values(nodeRed.nodes)];
  if (!outputs.every((output) => existsSync(join(root, output)))) return false;
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash;
}

/** Notes what dist was built from; a build that is broken off leaves no note. */
export const noteBuild = (hash) => writeFileSync(STAMP, hash);
export const forgetBuild = () => rmSync(STAMP, { force: true });

/** One hash over everything that a build reads: contents, so that a checkout changes nothing. */
export function sourcesHash() {
  const hash = createHash('sha256');
  const settings = readdirSync(root).filter((name) => SETTINGS.test(name));
  for (const file of [...settings, ...SOURCES.flatMap(filesBelow)].sort()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}
