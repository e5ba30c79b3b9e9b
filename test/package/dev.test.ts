import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../tooling/servers/ports';
import { startDemo, type Demo } from '../tooling/demo';
import { until } from '../tooling/until';
import { temporary } from '../e2e/harness/packed';
import { repository } from '../tooling/repository';

/** Stands in for the build, which takes longer. */
const BUILD = `import { copyFileSync, readFileSync } from 'node:fs';
if (readFileSync('src/version.ts', 'utf8') === 'broken') process.exit(1);
copyFileSync('src/version.ts', 'built');
`;

/** Stands in for the demo, which has a test of its own: only that it starts and ends is of interest here. */
const DEMO = `import { createServer } from 'node:net';
createServer().listen(Number(process.env.PORT), '127.0.0.1', () => console.log('Ctrl-C ends all of it'));
process.on('SIGTERM', () => process.exit());
process.on('message', () => process.exit());
`;

/** A clone that a test may change, without the sources that nothing is built from here. */
async function clone(): Promise<string> {
  const folder = join(await temporary(), 'clone');
  for (const part of ['scripts', join('test', 'tooling'), 'package.json', 'package-lock.json']) {
    await cp(join(repository, part), join(folder, part), { recursive: true });
  }
  for (const part of ['src', 'nodes', 'demo', 'dist']) await mkdir(join(folder, part));
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await writeFile(join(folder, 'build.mjs'), BUILD);
  await writeFile(join(folder, 'demo', 'start.mjs'), DEMO);
  return folder;
}

/** Stays connected to a demo until it ends. */
async function companion(port: number): Promise<{ ended: () => boolean }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return { ended: () => socket.closed };
}

describe('npm run dev', () => {
  let demo: Demo | undefined;
  after(async () => {
    demo?.interrupt();
    await demo?.ended;
  });

  it('rebuilds and restarts on the same port at each change, until Ctrl-C', async () => {
    const folder = await clone();
    const change = (text: string): Promise<void> =>
      writeFile(join(folder, 'src', 'version.ts'), text);
    const port = await freePort();
    const ups = (): number => (demo?.log().match(/Ctrl-C ends all of it/g) ?? []).length;
    const built = (): string => readFileSync(join(folder, 'built'), 'utf8');

    await change('one');
    demo = startDemo(port, { script: join(folder, 'scripts', 'dev.mjs') });
    await demo.up();
    assert.equal(built(), 'one');
    const first = await companion(port);

    await change('broken');
    await until(() => demo!.log().includes('The build failed'), 'it says so');
    assert.equal(first.ended(), false, 'what ran before runs on');

    await change('two');
    await until(() => ups() === 2, 'it is up again');
    assert.equal(built(), 'two');
    await until(first.ended, 'the first one has ended');
    const second = await companion(port);

    demo.interrupt();
    assert.equal(await demo.ended, process.platform === 'win32' ? 'SIGINT' : 'exit code 0');
    await until(second.ended, 'the demo has ended');
    assert.equal(ups(), 2);
  });
});
