import { spawn } from 'node:child_process';
import { existsSync, readdirSync, watch } from 'node:fs';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * `npm run test:watch [-- FILE.test.ts …]`: builds and runs these tests at each change of a source; without files, the
 * tests that stand beside what was changed: of src/channel/socket.ts all of test/src/channel. Ctrl-C ends it.
 */

const WATCHED = ['src', 'nodes', 'test', 'tooling'];
const QUIET_MS = 200;
const chosen = process.argv.slice(2);
const changed = new Set();
let isRunning = false;

/** The test files of a folder of test/, or of its root alone. */
function testsIn(folder, { recursive = true } = {}) {
  const path = join(root, 'test', folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', folder, name));
}

/** The tests beside a changed file. A room of src has a folder of tests; a node has files that begin with its name. */
function testsBeside(path) {
  if (path.endsWith('.test.ts')) return existsSync(join(root, path)) ? [path] : [];
  const [top, room, ...rest] = path.split(sep);
  if (top === 'src' && rest.length > 0) return testsIn(join('src', room));
  if (top === 'src') {
    const own = join('test', 'src', room.replace(/\.ts$/, '.test.ts'));
    return existsSync(join(root, own)) ? [own] : testsIn('src', { recursive: false });
  }
  if (top !== 'nodes') return [];
  return testsIn('nodes', { recursive: false }).filter((test) =>
    test.startsWith(join('test', 'nodes', room)),
  );
}

function runTests(files) {
  console.log(`\n${files.join('\n')}`);
  const script = join(root, 'scripts', 'test.mjs');
  const child = spawn(process.execPath, [script, ...files], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', resolve));
}

/** Runs until nothing has changed meanwhile. */
async function refresh(path) {
  if (path) changed.add(path);
  if (isRunning) return;
  isRunning = true;
  do {
    await sleep(QUIET_MS);
    const files = chosen.length > 0 ? chosen : [...new Set([...changed].flatMap(testsBeside))];
    changed.clear();
    if (files.length > 0) await runTests(files);
  } while (changed.size > 0);
  isRunning = false;
}

try {
  for (const folder of WATCHED) {
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name?.endsWith('.ts')) void refresh(join(folder, name));
    });
  }
  console.log('Waiting for a change; Ctrl-C ends it.');
  if (chosen.length > 0) await refresh();
} catch (error) {
  fail(error);
}
