import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import WebSocket from 'ws';
import { freePort } from '../../tooling/servers/ports';
import { startDemo, type Demo } from '../e2e/harness/demo';
import { until } from '../../tooling/until';
import { temporary } from '../e2e/harness/packed';
import { repository } from '../../tooling/repository';

/** Stands in for the build, which other tests run and which takes longer: dist is there already. */
const BUILD = `import { copyFileSync, readFileSync } from 'node:fs';
if (readFileSync('src/version.ts', 'utf8') === 'broken') process.exit(1);
copyFileSync('src/version.ts', 'built');
`;

/** A clone that a test may change, without the sources that nothing is built from here. */
async function clone(): Promise<string> {
  const folder = join(await temporary(), 'clone');
  for (const part of ['scripts', 'demo', 'tooling', 'package.json', 'package-lock.json']) {
    await cp(join(repository, part), join(folder, part), { recursive: true });
  }
  for (const part of ['src', 'nodes', 'tooling']) {
    await cp(join(repository, 'dist', part), join(folder, 'dist', part), { recursive: true });
    await mkdir(join(folder, part), { recursive: true });
  }
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await writeFile(join(folder, 'build.mjs'), BUILD);
  return folder;
}

/** Hears from a Node-RED until it ends. */
async function companion(port: number): Promise<{ ended: () => boolean }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/comms`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { ended: () => socket.readyState === WebSocket.CLOSED };
}

describe('npm run dev', () => {
  let demo: Demo | undefined;
  after(async () => {
    demo?.interrupt();
    await demo?.ended;
  });

  it('builds and starts again at each change, at the same port, until Ctrl-C', async () => {
    const folder = await clone();
    const change = (text: string): Promise<void> =>
      writeFile(join(folder, 'src', 'version.ts'), text);
    const port = await freePort();
    const ups = (): number => (demo?.output().match(/Ctrl-C ends all of it/g) ?? []).length;
    const built = (): string => readFileSync(join(folder, 'built'), 'utf8');

    await change('one');
    demo = await startDemo(port, join(folder, 'scripts', 'dev.mjs'));
    await demo.up;
    assert.equal(built(), 'one');
    const first = await companion(port);

    await change('broken');
    await until(() => demo!.output().includes('The build failed'), 'it says so');
    assert.equal(first.ended(), false, 'what ran before runs on');

    await change('two');
    await until(() => ups() === 2, 'it is up again');
    assert.equal(built(), 'two');
    assert.equal(first.ended(), true);
    const second = await companion(port);

    demo.interrupt();
    assert.equal(await demo.ended, process.platform === 'win32' ? null : 0);
    await until(second.ended, 'Node-RED has ended');
    assert.equal(ups(), 2);
  });
});
