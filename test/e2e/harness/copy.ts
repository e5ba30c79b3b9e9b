import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  type Dirent,
} from 'node:fs';
import { join } from 'node:path';

/** What tests write in a copy, which must not change in the original. */
const WRITTEN = /^package(-lock)?\.json$/;

/** A second name for a file that only is read, which costs a tenth of a copy. Between two volumes there is none. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function take(entry: Dirent, from: string, to: string): void {
  if (entry.isDirectory()) copyInstalled(from, to);
  else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (WRITTEN.test(entry.name)) copyFileSync(from, to);
  else linkOrCopy(from, to);
}

/** Copies a folder with what npm has installed in it. Of its files, a copy may change `package.json` alone. */
export function copyInstalled(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    take(entry, join(from, entry.name), join(to, entry.name));
  }
}
