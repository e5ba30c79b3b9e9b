import { randomUUID } from 'node:crypto';
import { link, readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../util/object';

/** Milliseconds between two signs of life of the process that holds a lock. */
export const HEARTBEAT = 5000;

/** After this many missed heartbeats, the process that holds a lock counts as gone. */
const MISSED = 2.5;

/** The process that holds a lock. */
export interface LockOwner {
  pid: number;
  host: string;
  /** The containers of a machine may have the same host name, and each numbers its processes by itself. Linux alone has it. */
  namespace?: string | undefined;
}

interface LockOptions {
  owner?: LockOwner | undefined;
  heartbeat?: number | undefined;
  /** Is called if the lock may be another process's. @param ms for how long a sign of life is waited for, at most */
  onWait?: (holder: LockOwner | undefined, ms: number) => void;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/** The namespace of the processes that are in no container, on every Linux. */
const NO_CONTAINER = 'pid:[4026531836]';

/** The code of an error of the system; empty if it has none. */
export const codeOf = (error: unknown): string =>
  isObject(error) && typeof error['code'] === 'string' ? error['code'] : '';

export async function thisProcess(): Promise<LockOwner> {
  const owner = { pid: process.pid, host: hostname() };
  try {
    const namespace = await readlink('/proc/self/ns/pid');
    if (namespace === NO_CONTAINER) return owner;
    // Two machines number their namespaces alike.
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return { ...owner, namespace: `${namespace} ${boot.trim()}` };
  } catch {
    return owner;
  }
}

/** Whether a process of this machine is certainly gone. One of this number may be another process, or this one. */
function isGone({ pid, host, namespace }: LockOwner, self: LockOwner): boolean {
  if (host !== self.host || namespace !== self.namespace) return false;
  if (pid === self.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

function readOwner(text: string): LockOwner | undefined {
  try {
    const { pid, host, namespace } = JSON.parse(text) as Partial<LockOwner>;
    return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof host === 'string'
      ? { pid: Number(pid), host, namespace }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A file that one process at a time holds. A process that is killed leaves its lock behind: the next one takes it over at
 * once if the process is known to be gone, otherwise after two and a half heartbeats without a sign of life, since a
 * container or another machine numbers its processes by itself. The age of a lock proves nothing: clocks differ, and are set.
 */
export class FolderLock {
  readonly #path: string;
  readonly #text: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(path: string, text: string, heartbeat: number) {
    this.#path = path;
    this.#text = text;
    this.#timer = setInterval(() => void this.#beat(), heartbeat).unref();
  }

  /**
   * @returns undefined if another process holds it, or the wait was ended
   * @throws Error if the folder cannot be written
   */
  static async acquire(path: string, options: LockOptions = {}): Promise<FolderLock | undefined> {
    const { owner = await thisProcess(), heartbeat = HEARTBEAT, onWait, signal } = options;
    const text = JSON.stringify({ ...owner, token: randomUUID() });
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        await writeFile(path, text, { flag: 'wx', mode: 0o600 });
        return new FolderLock(path, text, heartbeat);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      // One that another user has left cannot be read.
      const found = await readFile(path, 'utf8').catch((error: unknown) =>
        codeOf(error) === 'ENOENT' ? undefined : '',
      );
      if (found === undefined) continue;
      const holder = readOwner(found);
      if (!holder || !isGone(holder, owner)) {
        onWait?.(holder, MISSED * heartbeat);
        if (!(await isSilent(path, heartbeat, signal))) return undefined;
      }
      if (!(await remove(path, found))) return undefined;
    }
    return undefined;
  }

  /** Whether it is still this one: a process that stood still for long loses it to another. */
  async isHeld(): Promise<boolean> {
    return (await readFile(this.#path, 'utf8').catch(() => '')) === this.#text;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (await this.isHeld()) await rm(this.#path, { force: true });
  }

  async #beat(): Promise<void> {
    const now = new Date();
    try {
      if (await this.isHeld()) await utimes(this.#path, now, now);
    } catch {
      // One missed heartbeat does no harm: the next one is due soon.
    }
  }
}

/** Whether the holder of a lock gives no sign of life for as long as it must have given one; false if the wait was ended. */
async function isSilent(path: string, heartbeat: number, signal?: AbortSignal): Promise<boolean> {
  const beat = async (): Promise<number> => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
  const before = await beat();
  const end = performance.now() + MISSED * heartbeat;
  while (performance.now() < end) {
    await sleep(heartbeat / 10, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted || (await beat()) !== before) return false;
  }
  return true;
}

/** Removes a lock that was found to be free. Another process may have done so, and have made its own: that one stays. */
async function remove(path: string, found: string): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
  const isFound = (await readFile(aside, 'utf8').catch(() => '')) === found;
  if (!isFound) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
  return isFound;
}
