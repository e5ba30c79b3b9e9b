import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, takePort } from '../tooling/servers/ports';
import { startDemo, type Demo } from '../tooling/demo';
import { demoFlows } from '../e2e/examples/files';
import { openEditor } from '../e2e/harness/editor';
import { until } from '../tooling/until';
import { temporaryFolder } from '../tooling/temporary-folder';

const idOfType = (type: string): string => demoFlows.find((node) => node.type === type)!.id;

/** Windows has no signals: a process is killed, which only exit code 1 shows. */
const WINDOWS = process.platform === 'win32';

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** Answers in the place of Node-RED, which it keeps from running, until it is asked to crash. */
const STAND_IN = `const { spawnSync } = require('node:child_process');
const { createServer } = require('node:http');
if (process.env.STAND_IN_OF) {
  const isGone = () => process.ppid !== Number(process.env.STAND_IN_OF);
  setInterval(() => isGone() && process.exit(), 50);
  createServer((request, response) => {
    if (request.url === '/crash') process.kill(process.ppid, 'SIGKILL');
    response.end();
  }).listen(Number(process.env.PORT), '127.0.0.1');
} else if (/\\bred\\.js$/.test(process.argv[1] ?? '')) {
  const env = { ...process.env, STAND_IN_OF: String(process.pid) };
  spawnSync(process.execPath, ['-e', ''], { env, stdio: 'ignore', timeout: 60_000 });
}
`;

/** Starts `npm start` with a script that each of its processes loads first. */
async function startWith(port: number, script: string): Promise<Demo> {
  const preload = join(temporaryFolder('preload'), 'preload.cjs');
  await writeFile(preload, script);
  return startDemo(port, {
    env: { NODE_OPTIONS: `--require "${preload.replaceAll('\\', '/')}"` },
  });
}

describe('npm start', () => {
  it('says in one line that the port is taken or invalid', async () => {
    const { port, release } = await takePort();
    for (const [value, args, line] of [
      // A blank is what `set PORT=1890 && npm start` leaves in a Windows command prompt.
      [`${port} `, [], `Port ${port} is taken`],
      ['1', ['--port', String(port)], `Port ${port} is taken`],
      ['http', [], 'PORT must be a number'],
      [70000, [], 'PORT must be a number'],
      [1880, ['--port', 'http'], '--port must be a number'],
      [1880, ['--prot', '1'], "Unknown option '--prot'"],
    ] as const) {
      const demo = startDemo(value, { args });
      assert.equal(await demo.ended, 'exit code 1');
      assert.ok(demo.log().startsWith(line), demo.log());
      assert.equal(demo.log().trim().split('\n').length, 1);
    }
    await release();
  });

  describe('once it is up', () => {
    let demo: Demo;
    let url: string;

    before(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}/`;
      demo = startDemo(port);
      await demo.up();
    });
    after(async () => {
      demo.interrupt();
      await demo.ended;
    });

    it('prints the addresses of editor and dashboard, and both answer', async () => {
      assert.match(demo.log(), new RegExp(`Editor +${url}\n`));
      assert.match(demo.log(), new RegExp(`Dashboard +${url}dashboard\n`));
      assert.ok(await answers(url));
      assert.ok(await answers(`${url}dashboard`));
    });

    it('has the devices of the built-in simulator, and no error', async () => {
      const editor = await openEditor(url.slice(0, -1));
      const shown = (type: string) => editor.statuses.get(idOfType(type));
      await until(() => shown('device-cloud-listen')?.text === '6/6', 'all are listened to');
      await until(() => shown('device-cloud-events')?.text?.endsWith('/6'), 'all are known');
      const colours = [...editor.statuses.values()].map((status) => status?.fill);
      assert.ok(!colours.includes('red'), colours.join());
      editor.close();
    });

    it('does not run twice in the same clone', async () => {
      const second = startDemo(await freePort(), { folder: demo.folder });
      assert.equal(await second.ended, 'exit code 1');
      assert.match(second.log(), /^The demo of this folder is running already \(process \d+\): /);
      assert.ok(second.log().endsWith(`${url}\n`), second.log());
    });

    it('ends completely on Ctrl-C, with exit code 0 and without a message', async () => {
      const before = demo.log();
      demo.interrupt();
      assert.equal(await demo.ended, WINDOWS ? 'SIGINT' : 'exit code 0');
      assert.equal(demo.log(), before);
      assert.equal(await answers(url), false);
    });
  });

  const crashed = WINDOWS ? 'exit code 1' : 'SIGKILL';
  const line = `Node-RED has ended by itself (${crashed}).\n`;

  it('ends with a clear line when Node-RED ends before it is up', async () => {
    const isNodeRed = "/\\bred\\.js$/.test(process.argv[1] ?? '')";
    const end = `if (${isNodeRed}) process.kill(process.pid, 'SIGKILL');\n`;
    const demo = await startWith(await freePort(), end);
    assert.equal(await demo.ended, 'exit code 1');
    assert.ok(demo.log().endsWith(line), demo.log());
  });

  it('ends with the same line when Node-RED ends by itself later', async () => {
    const port = await freePort();
    const demo = await startWith(port, STAND_IN);
    await demo.up();
    await answers(`http://127.0.0.1:${port}/crash`);
    assert.equal(await demo.ended, 'exit code 1');
    assert.ok(demo.log().endsWith(line), demo.log());
  });

  it('ends completely when it is terminated, as npm run dev does at each change', async () => {
    const port = await freePort();
    const demo = await startWith(port, STAND_IN);
    await demo.up();
    demo.terminate();
    assert.equal(await demo.ended, WINDOWS ? 'SIGTERM' : 'exit code 0');
    const url = `http://127.0.0.1:${port}/`;
    await until(async () => !(await answers(url)), 'nothing answers');
  });
});
