import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from '../npm.mjs';

/** Folder of a Chinese font. Fontconfig looks for `fonts` below XDG_DATA_HOME. */
const data = join(root, '.cache', 'data');
const FONT = '@expo-google-fonts/noto-sans-sc';

/**
 * Many machines have no Chinese font, and these pictures are all that needs one: it is installed
 * when they are made, and is no dependency of the package.
 */
function installFont() {
  const folder = join(data, 'fonts');
  if (existsSync(join(folder, 'node_modules', FONT))) return;
  console.log(`Installing a Chinese font (${FONT}) …`);
  mkdirSync(folder, { recursive: true });
  npm(['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefix', folder, FONT]); // prettier-ignore
}

/** Starts the browser that CHROMIUM names, or the Chromium that comes from the registry for Linux. */
export async function launchChromium() {
  installFont();
  const { chromium } = await import('playwright-core');
  const { default: packed } = await import('@sparticuz/chromium');
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? (await packed.executablePath()),
    args: ['--no-sandbox', '--disable-gpu'],
    env: { ...process.env, XDG_DATA_HOME: data },
  });
}
