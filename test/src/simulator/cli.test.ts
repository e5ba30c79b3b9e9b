import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { readCommandLine } from '../../../src/simulator/cli';
import { openGet, withSimulator } from './client';
import { until } from '../../../tooling/until';

const CLI = join(__dirname, '../../../src/simulator/cli.js');

/** The exit code of a process that is asked to end. Windows has no signals: there it is killed. */
const ENDED = process.platform === 'win32' ? null : 0;

interface Run {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the command; once it announces itself, `running` looks at it and then it is sent `signal`. */
async function run(
  args: string[],
  running: (out: string) => Promise<void> = () => Promise.resolve(),
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<Run> {
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
      .finally(() => child.kill(signal));
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (failure instanceof Error) throw failure;
  return { code, out, err };
}

const value = (out: string, label: string): string =>
  new RegExp(`^ *${label} +(\\S+)$`, 'm').exec(out)?.[1] ?? '';

describe('device-cloud-simulator', () => {
  it('prints what to put into a config node, serves it, and ends with Ctrl-C', async () => {
    const args = [
      '--port',
      '0',
      '--devices',
      '2',
      '--appid',
      '5',
      '--appkey',
      'k',
      '--interval',
      '0',
      '--unknown-app',
      '404',
    ];
    const check = async (out: string): Promise<void> => {
      const printed = {
        baseUrl: value(out, 'Address'),
        appid: value(out, 'App id'),
        appkey: value(out, 'App key'),
      } as Simulator;
      assert.deepEqual([printed.appid, printed.appkey], ['5', 'k']);
      assert.equal(value(out, 'Server key'), 'Simulator-Key');
      assert.equal(value(out, 'Server password'), 'Simulator-Password');
      assert.match(out, /10000001, 10000002\n/);
      assert.equal((await openGet(printed, 'devices/list/')).status, 200);
      assert.equal((await openGet(printed, 'apps/', { appid: '6' })).status, 404);
    };
    const { code, err } = await run(args, check, 'SIGINT');
    assert.deepEqual([code, err], [ENDED, '']);
  });

  it('ends with SIGTERM, though devices upload', async () => {
    const { code, err } = await run(['--port', '0', '--interval', '0.05']);
    assert.deepEqual([code, err], [ENDED, '']);
  });

  it('lets devices sleep', async () => {
    const args = ['--port', '0', '--interval', '0', '--sleep', '10000002:0.05/3600'];
    const { code, err } = await run(args, async (out) => {
      const printed = {
        baseUrl: value(out, 'Address'),
        appid: value(out, 'App id'),
        appkey: value(out, 'App key'),
      } as Simulator;
      const listed = async () =>
        ((await openGet(printed, 'devices/list/')).body as { chipid: number }[]).map(
          ({ chipid }) => chipid,
        );
      await until(async () => (await listed()).join() === '10000001,10000003');
    });
    assert.deepEqual([code, err], [ENDED, '']);
  });

  it('prints its help and its version', async () => {
    const help = await run(['--help']);
    assert.equal(help.code, 0);
    for (const name of ['port', 'devices', 'appkey', 'server-password', 'unknown-app']) {
      assert.ok(help.out.includes(`--${name} `), name);
    }
    const version = await run(['--version']);
    assert.match(version.out, /^\d+\.\d+\.\d+\S*\n$/);
  });

  const wrong: [string[], RegExp][] = [
    [['--answer-delay=-5'], /--answer-delay must be a number from 0/],
    [['--colour'], /Unknown option '--colour'/],
  ];
  for (const [args, message] of wrong) {
    it(`prints one line about what is wrong with ${args.join(' ')}`, async () => {
      const { code, out, err } = await run(args);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, message);
      assert.match(err, /^device-cloud-simulator: .*\n$/);
    });
  }

  it(
    'prints which port is in use and what to do',
    withSimulator({}, async ({ port }) => {
      const { code, err } = await run(['--port', String(port)]);
      assert.equal(code, 1);
      assert.equal(
        err,
        `device-cloud-simulator: --port ${port} is taken: choose another one, or 0 for any that is free. See --help.\n`,
      );
    }),
  );
});

describe('the command line of the simulator', () => {
  const wrong: [string[], option: string, problem: RegExp][] = [
    [['--port', 'abc'], 'port', /^must be a number, but is "abc"$/],
    [['--port', '99999'], 'port', /^must be a whole number from 0 to 65535, but is 99999$/],
    [['--devices', '1.5'], 'devices', /must be a whole number/],
    [['--answer-delay', 'soon'], 'answerDelay', /must be a number/],
    [['--unknown-app', '403'], 'unknownApp', /^must be 401 or 404, but is 403$/],
    [['--dialect', 'other'], 'dialect', /must be document or public-2016, but is "other"$/],
    [
      ['--history-encoding', 'hex'],
      'historyEncoding',
      /must be text, base64, trimmed or tagged, but is "hex"$/,
    ],
    [['--sleep', '10000001'], 'sleep', /must look like 10000002:2\/600, but is "10000001"/],
    [['--sleep', '10000009:1/2'], 'sleep', /names a device that is not there: 10000009/],
    [['--sleep', '10000001:3/2'], 'sleep.every of a device', /must be more than sleep\.awake/],
    [['--appid', 'x'], 'appid', /must be an integer/],
  ];
  for (const [args, option, problem] of wrong) {
    it(`is refused for ${args.join(' ')}`, async () => {
      await assert.rejects(async () => startSimulator(readCommandLine(args).options), {
        option,
        problem,
      });
    });
  }

  it('chooses the dialect, and whether channels are replaced', () => {
    const { options } = readCommandLine(['--dialect', 'public-2016', '--replace']);
    assert.deepEqual([options.dialect, options.replace], ['public-2016', true]);
  });

  it('accepts options only', () => {
    assert.throws(() => readCommandLine(['extra']), /Unexpected argument 'extra'/);
  });
});
