import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderLock, thisProcess, type LockOwner } from '../../../src/state/lock';

/** The number of a process that has ended. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid!;
}

describe('the lock of a folder', () => {
  let folder: string;
  let path: string;
  const host = hostname();
  const other = { pid: process.ppid, host };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'device-cloud-lock-'));
    path = join(folder, 'lock');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is held by one process, and free after its release', async () => {
    // So long that a busy machine shows a sign of life in time.
    const heartbeat = 500;
    const first = await FolderLock.acquire(path, { heartbeat });
    assert.equal(await FolderLock.acquire(path, { owner: other, heartbeat }), undefined);
    assert.ok(await first?.isHeld());
    await first?.release();
    const second = await FolderLock.acquire(path, { owner: other, heartbeat });
    assert.ok(second);
    assert.equal(await first?.isHeld(), false);
    await second.release();
  });

  it('is taken over at once from a process that was killed, and from an earlier one of the same number', async () => {
    const self = await thisProcess();
    for (const pid of [await endedPid(), process.pid]) {
      await writeFile(path, JSON.stringify({ ...self, pid, token: 'x' }));
      // With heartbeats of a minute, a wait for one would outlast the test.
      const lock = await FolderLock.acquire(path, { heartbeat: 60_000 });
      assert.ok(lock);
      await lock.release();
    }
  });

  it('is taken over after silence from another machine, a reused number, or a file that is torn or cannot be read', async () => {
    const texts = [{ pid: 1, host: 'elsewhere' }, other].map((owner) => JSON.stringify(owner));
    for (const text of [...texts, '{"pid":', '']) {
      await writeFile(path, text);
      const lock = await FolderLock.acquire(path, { heartbeat: 20 });
      assert.ok(lock, text);
      await lock.release();
    }
    // As one of another user, it cannot be read.
    await symlink(path, path);
    const lock = await FolderLock.acquire(path, { heartbeat: 20 });
    assert.ok(lock);
    await lock.release();
  });

  it('stays with a process of another container that has the same host name and the same number', async () => {
    const heartbeat = 500;
    const self = await thisProcess();
    const first = await FolderLock.acquire(path, {
      owner: { ...self, namespace: 'pid:[4026532201] a' },
      heartbeat,
    });
    assert.ok(first);
    for (const namespace of ['pid:[4026532202] a', undefined]) {
      const owner = { ...self, namespace };
      assert.equal(await FolderLock.acquire(path, { owner, heartbeat }), undefined);
    }
    assert.ok(await first.isHeld());
    await first.release();
  });

  it('says of whom a sign of life is waited for, and for how long; the wait can be ended', async () => {
    const waits: unknown[] = [];
    const closing = new AbortController();
    const onWait = (holder: LockOwner | undefined, ms: number): void => {
      waits.push([holder?.pid, holder?.host, ms]);
      closing.abort();
    };
    for (const text of ['{"pid":17,"host":"elsewhere"}', '']) {
      await writeFile(path, text);
      // The wait would outlast the test.
      const options = { heartbeat: 60_000, onWait, signal: closing.signal };
      assert.equal(await FolderLock.acquire(path, options), undefined);
      assert.equal(await readFile(path, 'utf8'), text);
    }
    assert.deepEqual(waits, [
      [17, 'elsewhere', 150_000],
      [undefined, undefined, 150_000],
    ]);
  });

  it('goes to one of many that find it free at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      await writeFile(path, JSON.stringify({ pid: process.pid, host, token: 'x' }));
      const locks = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          FolderLock.acquire(path, { owner: { pid: process.pid, host }, heartbeat: 20 + n }),
        ),
      );
      const held = await Promise.all(locks.map(async (lock) => lock?.isHeld()));
      assert.ok(held.filter(Boolean).length <= 1);
      await Promise.all(locks.map(async (lock) => lock?.release()));
    }
  });

  it('is lost to the next one by a process that stood still, which does not remove it', async () => {
    const first = await FolderLock.acquire(path, { heartbeat: 60_000 });
    const second = await FolderLock.acquire(path, { owner: other, heartbeat: 10 });
    assert.ok(second);
    assert.equal(await first?.isHeld(), false);
    await first?.release();
    assert.ok(await second.isHeld());
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await second.release();
  });
});
