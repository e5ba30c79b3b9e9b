import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Simulator } from '../../../src/simulator';
import { openGet, withSimulator } from './client';

const CLI = join(__dirname, '../../../src/simulator/cli.js');

/** The exit code of a process that is asked to end. Windows has no signals: there it is killed. */
const ENDED = process.platform === 'win32' ? null : 0;

/** Runs the command; once it announces itself, `running` looks at it and then it is interrupted. */
async function run(
  args: string[],
  running: (out: string) => Promise<void> = () => Promise.resolve(),
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  let failure: unknown;
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  child.stdout.on('data', (data: Buffer) => {
    const announced = out.includes('Ctrl-C');
    out += data.toString();
    if (announced || !out.includes('Ctrl-C')) return;
    running(out)
      .catch((error: unknown) => (failure = error))
      .finally(() => child.kill('SIGINT'));
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (failure instanceof Error) throw failure;
  return { code, out, err };
}

const value = (out: string, label: string): string =>
  new RegExp(`^ *${label} +(\\S+)$`, 'm').exec(out)?.[1] ?? '';

describe('device-cloud-simulator', () => {
  it('prints what to put into a config node, serves it, and ends with Ctrl-C', async () => {
    const args = '--port 0 --devices 2 --appid 5 --appkey k --interval 0.05'.split(' ');
    const { code, err } = await run(args, async (out) => {
      const printed = {
        baseUrl: value(out, 'Address'),
        appid: value(out, 'App ID'),
        appkey: value(out, 'App key'),
      } as Simulator;
      assert.deepEqual([printed.appid, printed.appkey], ['5', 'k']);
      assert.equal(value(out, 'Server key'), 'Simulator-Key');
      assert.equal(value(out, 'Server password'), 'Simulator-Password');
      assert.match(out, /10000001, 10000002\n/);
      assert.equal((await openGet(printed, 'devices/list/')).status, 200);
    });
    assert.deepEqual([code, err], [ENDED, '']);
  });

  it('prints its help', async () => {
    assert.match((await run(['--help'])).out, /--port .*--dialect /s);
  });

  it(
    'prints one line about what is wrong',
    withSimulator({}, async ({ port }) => {
      for (const [args, message] of [
        [['--interval=-5'], /--interval must be a number from 0/],
        [['--port', 'abc'], /--port must be a whole number from 0 to 65535, but is "abc"/],
        [['--devices', '1.5'], /--devices must be a whole number from 0 to 10000/],
        [['--dialect', 'other'], /--dialect must be document or public-2016, but is "other"/],
        [['--colour'], /Unknown option '--colour'/],
        [['--port', String(port)], /--port \d+ is taken: choose another one/],
      ] as const) {
        const { code, out, err } = await run([...args]);
        assert.deepEqual([code, out], [1, '']);
        assert.match(err, message);
        assert.match(err, /^device-cloud-simulator: .*\n$/);
      }
    }),
  );
});
