import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname } from 'node:path';
import { SetupError } from './npm.mjs';

/**
 * Lets one process at a time go on; it has the lock until it ends. The lock is a file with the process's id, so the
 * file of a process that has crashed locks nothing, nor does a file from before the last start of the machine.
 * @param file of the lock
 * @param refusal makes the message for a second process, from the `pid` and the `shown` of the first one
 * @param shown further values for that message
 * @throws SetupError if a process has the lock
 */
export function lock(file, refusal, shown = {}) {
  mkdirSync(dirname(file), { recursive: true });
  const other = holder(file);
  if (other) throw new SetupError(refusal(other));
  rmSync(file, { force: true });
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, ...shown }), { flag: 'wx' });
  } catch (error) {
    throw error.code === 'EEXIST' ? new SetupError(refusal(holder(file) ?? {})) : error;
  }
  process.once('exit', () => rmSync(file, { force: true }));
}

/** What the file says, if the process that has written it is alive. */
function holder(file) {
  let other;
  try {
    // Process ids begin anew when the machine starts.
    if (statSync(file).mtimeMs < Date.now() - uptime() * 1000) return undefined;
    other = JSON.parse(readFileSync(file, 'utf8'));
    process.kill(other.pid, 0);
    return other;
  } catch (error) {
    // It exists, but belongs to somebody else.
    return error.code === 'EPERM' ? other : undefined;
  }
}
