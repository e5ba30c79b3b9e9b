import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator, type Simulator } from '../../src/simulator';
import { httpService, json } from '../tooling/servers/http-service';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';

const CLI = join(__dirname, '../../src/cli.js');
const ONE = '10000001';

/** Windows has no signals: there the process is killed. */
const ENDED = process.platform === 'win32' ? null : 0;

interface End {
  code: number | null;
  out: string;
  err: string;
}

describe('device-cloud', () => {
  const folder = temporaryFolder('cli');
  let cloud: Simulator;

  before(async () => {
    cloud = await startSimulator({ devices: 2, interval: 0, appkey: 'a-key-of-a-test' });
  });
  after(() => cloud.close());

  const variables = (): Record<string, string> => ({
    DEVICE_CLOUD_URL: cloud.baseUrl,
    DEVICE_CLOUD_APPID: cloud.appid,
    DEVICE_CLOUD_APPKEY: cloud.appkey,
    DEVICE_CLOUD_SERVER_KEY: cloud.serverKey,
    DEVICE_CLOUD_SERVER_PASSWORD: cloud.serverPassword,
  });

  /** Starts a command. @returns it, and what it has printed so far */
  function start(args: readonly string[], env: object = variables()) {
    const child = spawn(process.execPath, [CLI, ...args], { env: { ...env, NO_PROXY: '*' } });
    const end: End = { code: null, out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (end.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (end.err += text));
    return { child, end };
  }

  /** Runs a command to its end. @param input what it reads from standard input */
  async function run(args: readonly string[], env?: object, input = ''): Promise<End> {
    const { child, end } = start(args, env);
    child.stdin.end(input);
    [end.code] = (await once(child, 'close')) as [number | null];
    return end;
  }

  const CALLS: readonly [words: string, out: RegExp][] = [
    ['devices --json', /^\{"chipid":"10000001","name":"Greenhouse","latest":"2[^}]*\}\n\{/],
    [`gpio ${ONE} 5 1`, /^OK\n$/],
    [`gpio ${ONE} 5 --json`, /^\{"pin":5,"level":[01]\}\n$/],
    [`value ${ONE} uptime --json`, /^\{"key":"uptime","value":\d+\}\n$/],
    [`refresh ${ONE}`, /^online\n$/],
    ['push all x --json', /^\{"msg":"success"\}\n$/],
    [`history ${ONE} --pushes`, /^(2\S+ \S+ {2}.*\n)*$/],
    ['test', /^Open API: ok, .*\nAnswers as .*\nChannel of 10000001: ok\nServer API: ok\n$/],
    [`reboot ${ONE}`, /^OK\n$/],
  ];
  for (const [words, expected] of CALLS)
    it(`makes a call, and prints its result: ${words}`, async () => {
      const { code, out, err } = await run(words.split(' '));
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, expected);
      assert.doesNotMatch(out, /devkey/);
    });

  it('pushes standard input, and takes its variables from a file', async () => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'cloud.env');
    writeFileSync(file, Object.entries(variables()).map(([name, value]) => `${name}=${value}\n`).join('')); // prettier-ignore
    const end = await run(['push', '10000002', '-', '--env-file', file], {}, 'from a pipe');
    assert.deepEqual(end, { code: 0, out: 'OK\n', err: '' });
    assert.equal(cloud.device('10000002').received.at(-1)?.text, 'from a pipe');
  });

  it('reads no more of standard input than a push takes', async function () {
    if (process.platform === 'win32') this.skip();
    const endless = openSync('/dev/zero', 'r');
    const options = { env: { ...variables(), NO_PROXY: '*' } };
    const child = spawn(process.execPath, [CLI, 'push', ONE, '-'], {
      ...options,
      stdio: [endless, 'ignore', 'pipe'],
    });
    let err = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (err += text));
    const [code] = (await once(child, 'close')) as [number];
    closeSync(endless);
    assert.deepEqual(
      [code, err.slice(0, 45)],
      [2, 'device-cloud: Standard input is over 64 MiB. '],
    );
  });

  it('prints uploads until Ctrl-C, or until nobody reads on', async () => {
    for (const isPiped of [false, true]) {
      const { child, end } = start(['listen', '--json']);
      await until(() => cloud.channels() === 2, 'both channels are open');
      cloud.upload(ONE, { t: 1 });
      cloud.upload('10000002', '\u001b[2J');
      await until(() => end.out.split('\n').length === 3, 'both uploads are printed');
      assert.match(
        end.out,
        /"chipid":"10000001","name":"Greenhouse","timestamp":\d+,"payload":\{"t":1\}\}\n/,
      );
      assert.match(end.out, /"payload":"\\u001b\[2J"\}\n/);
      if (isPiped) {
        child.stdout.destroy();
        await until(() => {
          cloud.upload(ONE, 'nobody reads this');
          return child.exitCode !== null;
        }, 'it has ended');
      } else {
        child.kill('SIGINT');
        await once(child, 'close');
      }
      assert.equal(child.exitCode, isPiped ? 0 : ENDED);
      await until(() => cloud.channels() === 0, 'its channels are closed');
    }
  });

  it('ends at a Ctrl-C that comes while the simulator is being started', async () => {
    mkdirSync(folder, { recursive: true });
    const hook = join(folder, 'early.cjs');
    writeFileSync(
      hook,
      `process.on('newListener', (name) => name === 'SIGINT' && process.nextTick(() => process.emit(name)));`,
    );
    const env = { NODE_OPTIONS: `--require "${hook.replaceAll('\\', '/')}"` };
    const { code, out } = await run(['listen', '--simulator', '--json'], env);
    assert.deepEqual([code, out], [0, '']);
  });

  it('ends if uploads come faster than they are read', async () => {
    const { child, end } = start(['listen', '--json', ONE]);
    child.stdout.pause();
    await until(() => cloud.channels() === 1, 'the channel is open');
    const body = 'x'.repeat(10_000);
    await until(() => {
      for (let count = 0; count < 100; count++) cloud.upload(ONE, body);
      return end.err.includes('QUEUE_FULL');
    }, 'it says so');
    child.stdout.resume();
    await once(child, 'close');
    assert.equal(child.exitCode, 1);
    await until(() => cloud.channels() === 0, 'its channel is closed');
  });

  it('listens to all devices of a list with a record without a number', async () => {
    const { baseUrl } = await httpService(
      json([{ chipid: 'x' }, { name: 'y' }, { chipid: '007' }]),
    );
    const { child, end } = start(['listen'], { ...variables(), DEVICE_CLOUD_URL: baseUrl });
    await until(() => /^7 disconnected/m.test(end.err), 'it has tried to listen to the device');
    assert.equal(child.exitCode, null, end.err);
    child.kill('SIGINT');
    await once(child, 'close');
    assert.equal(child.exitCode, ENDED);
  });

  it('prints records of any kind on a line each', async () => {
    const odd = { toString: null };
    const records = [
      { chipid: 7, name: odd, latest: odd, body: odd, create_time: odd },
      { chipid: 8 },
    ];
    const { baseUrl } = await httpService(json(records));
    const env = { ...variables(), DEVICE_CLOUD_URL: baseUrl };
    const text = JSON.stringify(odd);
    const devices = await run(['devices'], env);
    assert.deepEqual(devices, { code: 0, out: `7  ${text}  ${text}\n8  -  \n`, err: '' });
    const history = await run(['history', '7', '--pushes'], env);
    assert.deepEqual(history, { code: 0, out: `${text}  ${text}\n  \n`, err: '' });
  });

  it('begins with the code if the service or the device fails, and names no key', async () => {
    const wrong = { ...variables(), DEVICE_CLOUD_APPKEY: 'another-key-of-a-test' };
    for (const [args, env, expected] of [
      [['devices'], wrong, /^UNAUTHORIZED: /],
      [['push', '99', 'x'], variables(), /^NOT_FOUND: /],
      [['gpio', ONE, '99'], variables(), /^INVALID_RESPONSE: .*no pin 99, only 0, 1/],
      [['test'], wrong, /^UNAUTHORIZED: /],
    ] as const) {
      const { code, out, err } = await run(args, env);
      assert.equal(code, 1, err);
      assert.match(err, expected);
      assert.doesNotMatch(out + err, /of-a-test/);
    }
    const { out } = await run(['test'], wrong);
    assert.match(out, /likely: key, then appid\n {2}signed: get\S+<APPKEY>\n[^]*curl -sSi/);
  });

  for (const [args, expected] of [
    [['nonsense'], /^device-cloud: There is no command "nonsense"/],
    [['push', ONE], /^device-cloud: Usage: device-cloud push CHIPID\|all TEXT\. See --help\./],
    [['push', '1x', 'y'], /^INVALID_INPUT: .*"1x"/],
    [['gpio', ONE, 'five'], /^device-cloud: PIN must be a number, but is "five"/],
    [['devices', '--nonsense'], /^device-cloud: Unknown option '--nonsense'/],
  ] as const)
    it(`ends with 2 and says what is wrong: ${args.join(' ')}`, async () => {
      const { code, out, err } = await run(args);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, expected);
    });

  it('names the variables that are missing, and needs none with the built-in simulator', async () => {
    const { code, err } = await run(['devices'], { DEVICE_CLOUD_URL: cloud.baseUrl });
    assert.equal(code, 2);
    assert.match(
      err,
      /^device-cloud: DEVICE_CLOUD_APPID, DEVICE_CLOUD_APPKEY are not set\. Set them in/,
    );
    const one = await run(['test'], {});
    assert.match(one.err, /^device-cloud: DEVICE_CLOUD_URL is not set\. Set it in/);
    const simulated = await run(['devices', '--simulator'], {});
    assert.deepEqual([simulated.code, simulated.err], [0, '']);
    const help = await run(['--help'], {});
    assert.equal(help.code, 0);
    const lines = help.out.split('\n');
    assert.ok(lines.length <= 24 && lines.every((line) => line.length < 80), 'a screen');
  });
});
