import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './npm.mjs';

/**
 * What npm has installed below a folder, by path. npm writes it as the last thing of an install, so it is a stamp that is
 * right whichever npm command a person has used, and missing after an install that was broken off.
 */
const installedIn = (folder) =>
  readJson(join(folder, 'node_modules', '.package-lock.json'))?.packages ?? {};

/** Whether what package-lock.json asks for is installed. */
export function dependenciesAreFresh() {
  const lock = readJson(join(root, 'package-lock.json'));
  if (!lock || !sameDependencies(readJson(join(root, 'package.json')), lock.packages['']))
    return false;
  const installed = installedIn(root);
  return Object.entries(lock.packages).every(([path, wanted]) => {
    // Optional packages are the binaries of other platforms, and may be missing.
    const found = path === '' ? wanted : installed[path];
    return found ? found.version === wanted.version : Boolean(wanted.optional);
  });
}

/** Whether a folder without a lock file has the packages of its package.json, which names exact versions. */
export function exactAreInstalled(folder) {
  const { dependencies, optionalDependencies = {} } = readJson(join(folder, 'package.json'));
  const installed = installedIn(folder);
  return Object.entries({ ...dependencies, ...optionalDependencies }).every(([name, wanted]) => {
    const { version } = installed[`node_modules/${name}`] ?? {};
    // An alias such as npm:name@1.2.3 ends with its version.
    return version ? wanted.split('@').at(-1) === version : name in optionalDependencies;
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

const SOURCES = ['src', 'flow-test', 'nodes', 'test', 'bench', 'icons'];
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
