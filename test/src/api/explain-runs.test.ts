import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DeviceCloudClient, type Explanation } from '../../../src/index';
import type { Simulator } from '../../../src/simulator';
import { clientOf, KEYS, simulator } from '../support/client';
import { goodText, holds } from '../support/fuzz';
import { until } from '../../../tooling/until';
import { HAS_TOOLS, output, runCommand, SHELL } from '../support/shell';

const ENV = {
  APPKEY: KEYS.appkey,
  SERVER_KEY: KEYS.serverKey,
  SERVER_PASSWORD: KEYS.serverPassword,
};
const DEVICE = '10000001';

const HOSTILE: readonly [what: string, text: string][] = [
  ['quotes', `'"''"'"`],
  ['substitutions', '$(echo x) `id` ${APPKEY} $APPKEY $((1+1)) !!'],
  ['line ends', 'a\nb\r\n; rm -rf nothing\n'],
  ['formats of printf', '%s %d %% \\n \\047 \\c \\\\'],
  ['control characters', '\0\u0003\u0004\u001b[2J\u007f\u009b\u202e'],
  ['letters of all alphabets', 'ÄÖÜ İ ΟΔΟΣ ΑΣ.Α ПРИВЕТ 你好 👩‍👩‍👧 ẞ'],
  ['what means something in a query or to curl', '&sign=x=y?#[]{}@file+;%41'],
];

// `explain.test.ts` and the properties check signatures and quotes everywhere; that a shell accepts them is checked where there is one.
if (SHELL === undefined) {
  describe('the command that an explanation prints', () => {
    it('is not run: this machine has no POSIX shell', () => undefined);
  });
} else describe('the command that an explanation prints', runs);

function runs(): void {
  let cloud: Simulator;
  let client: DeviceCloudClient;
  const tools = HAS_TOOLS ? 'machine' : 'stand-ins';
  beforeEach(async () => {
    cloud = await simulator();
    client = clientOf(cloud.baseUrl);
  });

  const succeeds = async ({ curl }: Explanation, using: typeof tools = tools): Promise<void> => {
    assert.match(await output(curl, ENV, using), /^HTTP\/1.1 200 OK\r?\n/);
  };
  const pushed = async (): Promise<string | undefined> =>
    (await client.pushHistory(DEVICE)).body.at(-1)?.body;

  for (const [what, text] of HOSTILE) {
    it(`pushes ${what} as they are, with the curl and openssl of: ${tools}`, async () => {
      await succeeds(client.explain('push', DEVICE, text));
      assert.equal(await pushed(), text);
    });
  }

  holds(
    'pushes any text as it is, whichever way a POST sends it',
    8,
    fc.asyncProperty(goodText, fc.constantFrom('body', 'query'), async (text, postParameters) => {
      await succeeds(clientOf(cloud.baseUrl, { postParameters }).explain('push', DEVICE, text));
      assert.equal(await pushed(), text);
    }),
  );

  it('works with stand-ins, for machines that have neither curl nor openssl', async () => {
    await succeeds(client.explain('push', DEVICE, "it's"), 'stand-ins');
    assert.equal(await pushed(), "it's");
  });

  it('accepts a message that is longer than an argument of a command may be', async () => {
    const text = '😀'.repeat(15_000);
    await succeeds(client.explain('push', DEVICE, text));
    assert.equal(await pushed(), text);
  });

  it('is accepted for every other call of the open API', async () => {
    await succeeds(client.explain('app'));
    await succeeds(client.explain('devices'));
    await succeeds(client.explain('pushToApp', 'x', { format: 'LUA' }));
    await succeeds(client.explain('uploadHistory', DEVICE));
    await succeeds(client.explain('pushHistory', DEVICE));
    await succeeds(client.explain('appHistory', '20260101', '20260102'));
    await succeeds(client.explain('rtStatus', DEVICE, 'temperature'));
    await succeeds(client.explain('gpioStatus', DEVICE));
    await succeeds(client.explain('setGpioEdge', DEVICE, 1, 'high'));
    assert.equal((await client.gpioStatus(DEVICE)).body.result[1], '1');
    await succeeds(client.explain('refresh', DEVICE));
    await succeeds(client.explain('reboot', DEVICE));
  });

  it('is accepted by the server API', async () => {
    await succeeds(client.explain('serverDevices', { page: 1, count: 2 }));
    await succeeds(client.explain('serverDevice', DEVICE));
    await succeeds(client.explain('serverUpdate', DEVICE, { name: `'"$(id)\n\u0007ä` }));
    await succeeds(client.explain('serverPassthrough', DEVICE, { data: '`x`' }));
    await succeeds(client.explain('serverUploads', { page: 1, count: 2 }));
  });

  it('opens the channel', async () => {
    const { curl } = client.explain('pushOverChannel', DEVICE, 'x');
    const command = runCommand(curl, ENV, tools);
    const isOpen = (): boolean => cloud.requests.some(({ status }) => status === 101);
    await until(isOpen, 'the channel is open');
    await cloud.close();
    await command.ended;
    assert.match(command.log(), /^HTTP\/1.1 101 /m);
  });

  it('is refused with another key, and sends nothing without one', async () => {
    const { curl } = client.explain('app');
    assert.match(await output(curl, { APPKEY: 'Another-Key' }, tools), /^HTTP\/1.1 401 /);
    const { length } = cloud.requests;
    assert.match(await output(curl, { APPKEY: '' }, tools), /APPKEY/);
    assert.equal(cloud.requests.length, length);
  });
}
