import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium as launcher } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { repository } from '../repository';

const CACHE = join(repository, '.cache');
/** In ms. Other suites may start theirs at the same time. */
const STARTED_WITHIN = 120_000;

/**
 * Starts a browser: the one that CHROMIUM names. Else, on Linux, Chromium comes from the registry like any
 * other package, so that nothing has to be installed. That package has none for other systems, where the
 * installed Chrome is taken, as it is on the machines of GitHub's workflows.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await browserPath();
  if (executablePath === undefined)
    return launcher.launch({ channel: 'chrome', timeout: STARTED_WITHIN });
  // The package's own arguments are for a cloud function: with them all pages live and die as one process.
  return launcher.launch({
    executablePath,
    timeout: STARTED_WITHIN,
    args: ['--no-sandbox', '--disable-gpu'],
  });
}

/** Where the browser is, unpacked if need be; `undefined` for the installed Chrome. */
export async function browserPath(): Promise<string | undefined> {
  const chosen = process.env['CHROMIUM'];
  const packed = process.platform === 'linux' && process.arch === 'x64';
  return chosen ?? (packed ? unpacked() : undefined);
}

/** The browser, in a folder that is there as a whole or not at all: two suites may run side by side. */
async function unpacked(): Promise<string> {
  const manifest = join(repository, 'node_modules', '@sparticuz', 'chromium', 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const folder = join(CACHE, `chromium-${version}`);
  const binary = join(folder, 'chromium');
  if (existsSync(binary)) return binary;
  await mkdir(CACHE, { recursive: true });
  const fresh = await mkdtemp(join(CACHE, 'unpacking-'));
  await unpackInto(fresh);
  await rename(fresh, folder).catch(async (error: unknown) => {
    await rm(fresh, { recursive: true, force: true });
    if (!existsSync(binary)) throw error;
  });
  return binary;
}

/** The package unpacks into the folder for temporary files, and takes whatever is there already. */
async function unpackInto(folder: string): Promise<void> {
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    const { default: chromium } = await import('@sparticuz/chromium');
    await chromium.executablePath();
  } finally {
    if (usual === undefined) Reflect.deleteProperty(process.env, 'TMPDIR');
    else process.env['TMPDIR'] = usual;
  }
}
