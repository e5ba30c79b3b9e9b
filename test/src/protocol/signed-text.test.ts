import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { signedAppText, signedServerText, type SignedText } from '../../../src/protocol/signing';
import { signByHand, signServerByHand } from '../../tooling/sign-by-hand';
import { KEYS, keysOf, simulator } from '../support/client';
import { HAS_TOOLS, output, SHELL } from '../support/shell';
import { inEachDialect } from '../../tooling/dialect';

const { appid, appkey, serverKey, serverPassword } = KEYS;
const NOW = 1_433_814_203_900;
const PATH = '/api/server/devices';

describe('the text that was signed', () => {
  it('has the sign of the request as its MD5 once the keys are put in', () => {
    const app = signedAppText('https://cloud.example', appid, NOW);
    assert.equal(app.signed, `gettimestamp=1433814203&appid=${appid}<APPKEY>`);
    const timestamp = '1433814203';
    const sign = signByHand('get', { appid, timestamp }, appkey);
    assert.equal(hash('md5', app.signed.replace('<APPKEY>', appkey)), sign);
    const server = signedServerText('https://cloud.example', NOW);
    const text = server.signed
      .replace('<SERVER_KEY>', serverKey)
      .replace('<SERVER_PASSWORD>', serverPassword);
    const signed = signServerByHand('GET', PATH, serverKey, timestamp, serverPassword);
    assert.equal(hash('md5', text.toLowerCase()), signed);
  });
});

if (SHELL === undefined) {
  describe('the command that sends a request again', () => {
    it('is not run: this machine has no POSIX shell', () => undefined);
  });
} else describe('the command that sends a request again', runs);

function runs(): void {
  const tools = HAS_TOOLS ? 'machine' : 'stand-ins';
  const run = (
    { curl }: SignedText,
    keys: Readonly<Record<string, string>>,
    using: typeof tools = tools,
  ): Promise<string> => output(curl, keys, using);

  inEachDialect('on a service', () => {
    it('is accepted for the right keys, and refused for others', async () => {
      const keys = keysOf();
      const cloud = await simulator({ appkey: keys.appkey });
      const app = signedAppText(cloud.baseUrl, appid, NOW);
      const server = signedServerText(cloud.baseUrl, NOW);
      const ENV = { APPKEY: keys.appkey, SERVER_KEY: serverKey, SERVER_PASSWORD: serverPassword };
      assert.match(await run(app, ENV), /^HTTP\/1.1 200 OK\r?\n[^]*"online"/);
      assert.match(await run(server, ENV), /^HTTP\/1.1 200 OK\r?\n/);
      assert.match(await run(app, { ...ENV, APPKEY: 'another' }), /^HTTP\/1.1 40[01] /);
      assert.match(await run(server, { ...ENV, SERVER_PASSWORD: 'another' }), /^HTTP\/1.1 40[01] /);
    });
  });

  it('contains no key and no sign, and sends nothing while a key is not set', async () => {
    const cloud = await simulator();
    for (const text of [
      signedAppText(cloud.baseUrl, appid, NOW),
      signedServerText(cloud.baseUrl, NOW),
    ]) {
      const shown = JSON.stringify(text);
      assert.doesNotMatch(shown, /[0-9a-f]{32}/);
      for (const secret of [appkey, serverKey, serverPassword])
        assert.ok(!shown.toLowerCase().includes(secret.toLowerCase()), shown);
      assert.match(await run(text, { APPKEY: '', SERVER_KEY: serverKey, SERVER_PASSWORD: '' }), /APPKEY|SERVER_PASSWORD/); // prettier-ignore
    }
    assert.equal(cloud.requests.length, 0);
  });

  it('takes keys as they are, whatever they mean to a shell or to printf', async () => {
    const odd = `$(id)'"\\n%s !`;
    const cloud = await simulator({ appkey: odd, serverPassword: odd });
    const ENV = { APPKEY: odd, SERVER_KEY: serverKey, SERVER_PASSWORD: odd };
    assert.match(await run(signedAppText(cloud.baseUrl, appid, NOW), ENV), /^HTTP\/1.1 200 /);
    assert.match(await run(signedServerText(cloud.baseUrl, NOW), ENV), /^HTTP\/1.1 200 /);
  });

  it('works with stand-ins, for machines that have neither curl nor openssl', async () => {
    const { baseUrl } = await simulator({ dialect: 'document' });
    const text = await run(signedAppText(baseUrl, appid, NOW), { APPKEY: appkey }, 'stand-ins');
    assert.match(text, /^HTTP\/1.1 200 OK/);
  });
}
