import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();
process.once('exit', () => folders.forEach(removeFolder));

/** Makes a folder that is removed with this process at the latest. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `device-cloud-${name}-`));
  folders.add(folder);
  return folder;
}

/** Removes such a folder earlier. */
export function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
