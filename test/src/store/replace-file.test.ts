import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../src/store/files';
import { SHELL } from '../support/shell';
import { temporaryFolder } from '../../tooling/temporary-folder';

const MODULE = require.resolve('../../../src/store/files');

/** Replaces a file in a process whose files may have 8 or 16 KiB: the system takes a part of what is longer. */
const SCRIPT = `
process.on('SIGXFSZ', () => undefined);
require(${JSON.stringify(MODULE)})
  .replaceFile(process.argv[1], 'new'.repeat(20_000))
  .then(() => console.log('replaced'), (error) => console.log(error.code));`;

describe('a file that is replaced', () => {
  let path: string;
  const names = (): string[] => readdirSync(join(path, '..'));
  beforeEach(() => {
    path = join(temporaryFolder('replace'), 'file.txt');
  });

  it('has the new content, and the mode that it had or is to have', async () => {
    await replaceFile(path, 'one', 0o600);
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
    await replaceFile(path, Buffer.from('zwölf'));
    assert.equal(readFileSync(path, 'utf8'), 'zwölf');
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(names(), ['file.txt']);
  });

  it('stays as it is where there is room for only a part of the new one', () => {
    writeFileSync(path, 'old');
    const limited = ['-c', 'ulimit -f 16; exec "$@"', 'sh', process.execPath, '-e', SCRIPT, path];
    const { stdout } = spawnSync(SHELL ?? 'sh', limited, { encoding: 'utf8', timeout: 30_000 });
    assert.equal(stdout.trim(), 'EFBIG');
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.deepEqual(names(), ['file.txt']);
  });
});
