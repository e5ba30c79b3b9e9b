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
  const text = JSON.stringify({ pid: process.pid, ...shown });
  if (!write(file, text)) {
    const other = read(file);
    if (isOfThisBoot(file) && isAlive(other.pid)) throw new SetupError(refusal(other));
    rmSync(file, { force: true });
    if (!write(file, text)) throw new SetupError(refusal(read(file)));
  }
  process.once('exit', () => rmSync(file, { force: true }));
}

function write(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** What the file says; nothing if it is gone or broken. */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Process ids begin anew when the machine starts. */
function isOfThisBoot(file) {
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return mtimeMs > Date.now() - uptime() * 1000;
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It exists, but belongs to somebody else.
    return error.code === 'EPERM';
  }
}
