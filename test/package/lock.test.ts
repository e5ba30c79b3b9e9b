import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository } from '../../tooling/repository';

const LOCK = pathToFileURL(join(repository, 'scripts', 'lock.mjs')).href;
const ADDRESS = 'http://127.0.0.1:1880/';

/** Holds the lock until its input ends. */
const HOLDER = `const { lock } = await import(process.env.LOCK);
try {
  lock(process.env.FILE, ({ pid, editor }) => pid + ' has ' + editor, { editor: '${ADDRESS}' });
  process.stdin.resume().once('end', () => process.exit());
  console.log('held');
} catch (error) {
  console.log(error.message);
}
`;

describe('a lock of the scripts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'device-cloud-lock-'));
  const file = join(folder, 'new', 'lock');
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Starts a process that takes the lock. @returns what it says, and what ends it */
  async function hold() {
    const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER], {
      env: { ...process.env, LOCK, FILE: file },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    const [said] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    const end = async (how: () => void): Promise<void> => {
      how();
      await ended;
    };
    return {
      said: said.trim(),
      pid: child.pid!,
      release: () => end(() => void child.stdin.end()),
      crash: () => end(() => void child.kill('SIGKILL')),
    };
  }

  it('is held by one process at a time, and released when it ends', async () => {
    const first = await hold();
    assert.equal(first.said, 'held');
    const second = await hold();
    await second.release();
    assert.ok(second.said.startsWith(`${first.pid} has ${ADDRESS}`), second.said);
    assert.ok(second.said.includes(file), 'it says what to delete');
    await first.release();
    assert.equal(existsSync(file), false);
  });

  it('is free after a crash, even if the file was cut off', async () => {
    const crashed = await hold();
    await crashed.crash();
    const left = readFileSync(file, 'utf8');
    for (const text of [left, left.slice(0, 5), 'null']) {
      writeFileSync(file, text);
      const next = await hold();
      assert.equal(next.said, 'held', text);
      await next.release();
    }
  });
});
