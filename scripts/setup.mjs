import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root, run, SetupError } from './npm.mjs';

const OLDEST_NODE = '20.18.1';

/**
 * Makes a clone ready: installs the dependencies and builds, each only when missing or stale.
 * Plain Node without a dependency, since it runs before there is any.
 */
export function setup({ build = true } = {}) {
  const { node } = process.versions;
  if (node.localeCompare(OLDEST_NODE, undefined, { numeric: true }) < 0) {
    throw new SetupError(`Node.js ${OLDEST_NODE} or newer is needed; this is ${node}.`);
  }
  if (!dependenciesAreFresh()) {
    console.log('Installing the dependencies (npm ci) …');
    // A production setting in the environment must not leave out what builds and tests need.
    npm(['ci', '--include=dev', '--no-audit', '--no-fund']);
  }
  if (build) buildIfStale();
}

const readJson = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'));

/**
 * What npm has installed below a folder, by path. npm writes it as the last thing of an install, so it is a stamp that is
 * right whichever npm command a person has used, and missing after an install that was broken off.
 */
function installedIn(folder) {
  const stamp = join(folder, 'node_modules', '.package-lock.json');
  return existsSync(stamp) ? readJson(stamp).packages : {};
}

/** Whether what package-lock.json asks for is installed. */
function dependenciesAreFresh() {
  const installed = installedIn(root);
  const { '': _own, ...wanted } = readJson(root, 'package-lock.json').packages;
  // Optional packages are the binaries of other platforms, and may be missing.
  return Object.entries(wanted).every(([path, { version, optional }]) =>
    installed[path] ? installed[path].version === version : Boolean(optional),
  );
}

/** Whether a folder without a lock file has the packages of its package.json, which names exact versions. */
function exactAreInstalled(folder) {
  const { dependencies, optionalDependencies = {} } = readJson(folder, 'package.json');
  const installed = installedIn(folder);
  return Object.entries({ ...dependencies, ...optionalDependencies }).every(([name, wanted]) => {
    const { version } = installed[`node_modules/${name}`] ?? {};
    // An alias such as npm:name@1.2.3 ends with its version.
    return version ? wanted.split('@').at(-1) === version : name in optionalDependencies;
  });
}

/**
 * What the tests and the site install beside the dependencies has no lock file: nothing that is published later is
 * installed, so that it stays the same. A newer version in one of their package.json needs a later day.
 */
const PUBLISHED_BEFORE = '2026-11-25';

/**
 * Installs the exact versions that a folder's package.json names, when missing or stale.
 * @param files what has to be there besides: optional packages may be missing
 */
export function installIn(folder, what, { options = [], files = [] } = {}) {
  if (exactAreInstalled(folder) && files.every((file) => existsSync(file))) return;
  console.log(`Installing ${what} …`);
  const pinned = ['--no-package-lock', `--before=${PUBLISHED_BEFORE}`];
  npm(['install', ...pinned, ...options, '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
  });
}

const SOURCES = ['src', 'flow-test', 'nodes', 'test', 'bench', 'icons'];
const SETTINGS = /^(build\.mjs|package(-lock)?\.json|tsconfig.*\.json)$/;
const STAMP = join(root, 'dist', '.sources');

/** Builds dist when the sources are not the ones it was built from. */
export function buildIfStale() {
  const hash = sourcesHash();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return;
  console.log('Building (node build.mjs) …');
  // A build that is broken off leaves no note of what it was made from.
  rmSync(STAMP, { force: true });
  run(process.execPath, ['build.mjs']);
  writeFileSync(STAMP, hash);
}

/** One hash over everything that a build reads: contents, so that a checkout changes nothing. */
function sourcesHash() {
  const hash = createHash('sha256');
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return [path];
      return entry.name === 'node_modules' ? [] : below(path);
    });
  const settings = readdirSync(root).filter((name) => SETTINGS.test(name));
  for (const file of [...settings, ...SOURCES.flatMap(below)].sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** Shows a failure as a line when it says all, and with its stack when it is a surprise. */
export function fail(error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
