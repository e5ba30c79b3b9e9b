import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './npm.mjs';

/**
 * Whether a folder's node_modules holds what its package-lock.json asks for. npm writes
 * `.package-lock.json` as the last thing of an install, so it is a stamp that is right whichever
 * npm command a person has used, and missing after an install that was broken off.
 */
export function dependenciesAreFresh(folder = root) {
  const lock = readJson(join(folder, 'package-lock.json'));
  const installed = readJson(join(folder, 'node_modules', '.package-lock.json'));
  if (!lock || !installed) return false;
  const manifest = readJson(join(folder, 'package.json'));
  if (!sameDependencies(manifest, lock.packages[''])) return false;
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
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

const SOURCES = ['src', 'flow-test', 'nodes', 'test', 'bench', 'tooling', 'icons'];
const SETTINGS = /^(build\.mjs|package(-lock)?\.json|tsconfig.*\.json)$/;
const STAMP = join(root, 'dist', '.sources');

/** Whether dist was built from the sources as they are now. */
export function buildIsFresh(hash) {
  const { main, 'node-red': nodeRed } = readJson(join(root, 'package.json'));
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
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : filesBelow(path);
  });
}
