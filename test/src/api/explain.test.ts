import assert from 'node:assert/strict';
import type { ClientOptions, DeviceCloudClient, Explanation } from '../../../src/index';
import { clientOf, KEYS } from '../support/client';
import { thrown } from '../support/failure';

const BASE = 'https://cloud.example.com';
/** The moment of the vectors, in milliseconds. */
const now = (): number => 1_700_000_000_123;

const of = (options: Partial<ClientOptions> = {}): DeviceCloudClient =>
  clientOf(BASE, { now, ...options });

const codes = ({ warnings }: Explanation): string[] => warnings.map(({ code }) => code);

const timestamp = ['timestamp', '1700000000'];
const appid = ['appid', '10001'];
const SIGN_STEPS = "| openssl md5 | sed 's/.*= *//') &&\n";

describe('the explanation of a call', () => {
  it('has the common parameters alone in the form of section 5.2', () => {
    const { powershell, ...explained } = of().explain('app');
    assert.match(powershell, /&appid=10001'/);
    assert.deepEqual(explained, {
      method: 'GET',
      path: '/openapi/apps/',
      parameters: [timestamp, appid],
      signed: 'gettimestamp=1700000000&appid=10001<APPKEY>',
      curl:
        ': "${APPKEY:?}" &&\ntimestamp=$(date +%s) &&\n' +
        `sign=$(printf 'gettimestamp=%s&appid=10001%s' "$timestamp" "$APPKEY" ${SIGN_STEPS}` +
        `curl -sSi --noproxy '*' '${BASE}/openapi/apps/?appid=10001&timestamp='"$timestamp"'&sign='"$sign"`,
      warnings: [],
    });
  });

  it('lists further parameters as they are, and signs them in lowercase, in descending order', () => {
    const { parameters, signed, path } = of().explain('push', '007', 'Grüße, ΟΔΟΣ & 100%', {
      format: 'MSG',
    });
    assert.equal(path, '/openapi/dev/push/message/');
    const further = [
      ['message', 'Grüße, ΟΔΟΣ & 100%'],
      ['format', 'MSG'],
      ['devid', '7'],
    ];
    assert.deepEqual(parameters, [timestamp, ...further, appid]);
    const text =
      'posttimestamp=1700000000&message=grüße, οδος & 100%&format=msg&devid=7&appid=10001';
    assert.equal(signed, `${text}<APPKEY>`);
    const ascii = of({ signCase: 'ascii' }).explain('push', '7', 'ÄB').signed;
    assert.match(ascii, /&message=Äb&/);
  });

  it('of a POST sends its parameters where the client does', () => {
    const body = of().explain('push', '1', "it's").curl;
    assert.match(body, /"\$sign" --data-raw 'devid=1&message=it'\\''s&format=MSG'$/);
    const query = of({ postParameters: 'query' }).explain('push', '1', "it's").curl;
    assert.match(query, /curl -sSi .*-X POST .*"\$sign"'&devid=1&message=it'\\''s&format=MSG'$/);
  });

  it('signs the server API by section 5.1, its password in lowercase with the rest', () => {
    const serverPassword = 'PassWord';
    const client = of({ serverKey: 'Prod-Key', serverPassword });
    const { path, parameters, signed, curl } = client.explain('serverDevices', { page: 2 });
    assert.equal(path, '/api/server/devices?page=2');
    assert.deepEqual(parameters, [['key', '<SERVER_KEY>'], timestamp]);
    assert.equal(
      signed,
      'get/api/server/deviceskey=<SERVER_KEY>timestamp=1700000000<SERVER_PASSWORD>',
    );
    assert.match(curl, /\| LC_ALL=C tr 'A-Z' 'a-z' \| openssl md5/);
    const body = client.explain('serverUpdate', 'X-1', { name: 'a\u0007\u202e' }).curl;
    assert.match(body, /'put\/api\/server\/devices\/x-1key=%s/);
    assert.match(body, /--data-raw '\{"name":"a\\u0007\\u202e"\}'$/);
  });

  it('of a push over the channel shows the handshake, and the frame that follows it', () => {
    const ms = of().explain('pushOverChannel', '7', 'hi');
    assert.equal(ms.path, '/noticed/peer');
    assert.equal(ms.signed, 'gettimestamp=1700000000123&chipid=7&appid=10001<APPKEY>');
    assert.match(ms.curl, /timestamp=\$\(date \+%s\)000 &&/);
    assert.deepEqual(codes(ms), ['channel']);
    assert.match(ms.warnings[0]!.message, /\{"type":"msgpush","body":"aGk="\}$/);
    const seconds = of({ timestampUnit: 's' }).explain('pushOverChannel', '7', 'hi');
    assert.match(seconds.curl, /timestamp=\$\(date \+%s\) &&/);
    assert.match(seconds.signed, /timestamp=1700000000&/);
  });

  it('has no control characters for a terminal in the command', () => {
    const { curl } = of().explain('push', '1', 'a\u0003\u001b[31m\r\n\0\u009b\u202eb\\ %s');
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(curl, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    assert.match(curl, /a\\003\\033\[31m\\015\\012\\000\\302\\233\\342\\200\\256b\\\\ %%s&/);
  });

  it('lists what the command lacks', () => {
    const client = of({ proxy: { url: 'http://127.0.0.1:1' }, tls: {}, serverPassword: 'PÄSS' });
    assert.deepEqual(codes(client.explain('devices')), ['tls', 'proxy', 'spelling']);
    assert.deepEqual(codes(client.explain('serverDevice', 'a')), ['tls', 'proxy', 'password-case']);
  });

  it('warns of a key that looks wrong, for the interface that is used', () => {
    const client = of({ appkey: ' Key-Of-The-App\n', serverPassword: 'Ｐassword' });
    const { warnings } = client.explain('app');
    const texts = warnings.map(({ message }) => message);
    assert.deepEqual(texts, [
      'The app key begins with a blank.',
      'The app key ends with a line end.',
    ]);
    assert.deepEqual(codes(client.explain('serverDevices')), ['full-width', 'password-case']);
  });

  const SHOWN: readonly [what: string, message: unknown][] = [
    ['as it is', `x${KEYS.appkey}y`],
    ['in other capitals', KEYS.serverPassword.toUpperCase()],
    ['in JSON', { a: [KEYS.serverKey] }],
  ];
  for (const [what, message] of SHOWN) {
    it(`leaves out a key that a value contains, ${what}`, () => {
      const explanation = of().explain('push', '1', message as string);
      assert.deepEqual(codes(explanation), ['secret']);
      assert.equal(explanation.curl, '');
      assert.deepEqual(explanation.parameters[1], ['message', '***']);
      assert.equal(explanation.signed, '***');
    });
  }

  it('fails as the call does', () => {
    const client = of();
    thrown(() => client.explain('push', '../x', 'x'), 'INVALID_INPUT');
    thrown(() => client.explain('push', '1', 'x', { timeout: -1 }), 'NOT_CONFIGURED');
    thrown(() => of({ appkey: '' }).explain('app'), 'NOT_CONFIGURED');
    thrown(() => of({ serverKey: '' }).explain('serverDevices'), 'NOT_CONFIGURED');
  });
});
