import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import type { FlowNode } from '../tooling/node-red/nodes';
import { call, fail, shows, statusesOf } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';
import { CANARIES } from './support/secrets';

const UNSET = '${DEVICE_CLOUD_TEST_UNSET}';
const RED = { fill: 'red', shape: 'ring', text: 'status.not-configured' };

/** What is wrong, as properties of the config node. */
const WRONG: Record<string, (cloud: Simulator) => object> = {
  'a disabled application': () => ({ d: true }),
  'no address': () => ({ baseUrl: undefined }),
  'an invalid address': () => ({ baseUrl: 'somewhere' }),
  'a user in the address': ({ port }) => ({ baseUrl: `http://me:secret@127.0.0.1:${port}` }),
  'a variable for the address that is not set': () => ({ baseUrl: UNSET }),
  'an invalid appid': () => ({ appid: 'ten' }),
  'a TLS configuration that is gone': () => ({ tls: 'gone' }),
  'a TLS configuration whose file is gone': () => ({ tls: 'tls-without-file' }),
  'a TLS configuration with half of a key pair': () => ({ tls: 'tls-without-key' }),
  'a proxy configuration that is gone': () => ({ proxy: 'gone' }),
  'another node in place of the TLS configuration': () => ({ tls: 'other' }),
  'an unknown charset': () => ({ charset: 'latin-1' }),
  'an object for a text': () => ({ pins: {} }),
  'an invalid order of pins': () => ({ pins: '1,1' }),
  'an appid that has lost digits': () => ({ appid: 2 ** 60 }),
  'an invalid time-out': () => ({ timeout: 'soon' }),
};

/** A config node of another type. */
const OTHER: FlowNode = { id: 'other', type: 'helper' };

/** Node-RED's own, which goes on without what it cannot use. */
const tls = (id: string, files: object): FlowNode => ({
  ...{ id, type: 'tls-config', cert: '', key: '', ca: '', servername: '', verifyservercert: true },
  ...files,
});
const UNUSABLE = [
  tls('tls-without-file', { ca: '/nowhere/ca.pem' }),
  tls('tls-without-key', { cert: __filename }),
];

const APPS: Record<string, object> = {
  'no application': { app: undefined },
  'an application that is gone': { app: 'gone' },
  'another node as application': { app: 'other' },
};

describe('a node that is not configured', () => {
  useNodeRed();
  const chipid = '10000001';
  const users = (properties: object = {}): FlowNode[] => [
    OTHER,
    ...UNUSABLE,
    node('push', properties),
    node('server', properties),
    node('listen', { devices: 'dynamic', ...properties }),
  ];

  /** Red from the start, each message fails, and nothing reaches the network. */
  async function checkRefusal(cloud: Simulator, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await shows(id, RED.text);
      assert.deepEqual(statusesOf(id)[0], RED);
      const msg = { chipid, payload: 'x', action: 'subscribe', statusCode: 200 };
      const { error } = await fail(id, { ...msg }, 'NOT_CONFIGURED');
      assert.ok(!error.message.includes('secret'), error.message);
      await fail(id, { ...msg }, 'NOT_CONFIGURED');
    }
    assert.equal(cloud.requests.length, 0);
    assert.equal(cloud.sockets(), 0);
  }

  for (const [what, properties] of Object.entries(APPS)) {
    it(`shows and reports it: ${what}`, async () => {
      const cloud = await startWith(...users(properties));
      await checkRefusal(cloud, ['push', 'server', 'listen']);
    });
  }

  for (const [what, wrong] of Object.entries(WRONG)) {
    it(`shows and reports it: ${what}`, async () => {
      const cloud = await startCloud();
      await load([cloudApp(cloud, wrong(cloud)), ...users()]);
      await checkRefusal(cloud, ['push', 'server', 'listen']);
    });
  }

  const OPEN_MISSING: [what: string, properties: object, keys: object][] = [
    ['no appid', { appid: '' }, CANARIES],
    ['no app key', {}, { ...CANARIES, appkey: '' }],
    ['a variable for the app key that is not set', {}, { ...CANARIES, appkey: UNSET }],
  ];
  for (const [what, properties, keys] of OPEN_MISSING) {
    it(`does not affect the server API: ${what}`, async () => {
      const cloud = await startCloud();
      await load([cloudApp(cloud, properties), ...users()], { app: keys });
      await checkRefusal(cloud, ['push', 'listen']);
      assert.deepEqual(statusesOf('server'), []);
      assert.equal((await call('server', {}))['statusCode'], 200);
    });
  }

  const SERVER_MISSING: [what: string, keys: object][] = [
    ['no key', { serverKey: '' }],
    ['no password', { serverPassword: '' }],
    ['a variable for the password that is not set', { serverPassword: UNSET }],
  ];
  for (const [what, keys] of SERVER_MISSING) {
    it(`does not affect the open API: ${what}`, async () => {
      const cloud = await startCloud();
      await load([cloudApp(cloud), ...users()], { app: { ...CANARIES, ...keys } });
      await checkRefusal(cloud, ['server']);
      assert.deepEqual(statusesOf('push'), []);
      await call('push', { chipid, payload: 'x' });
      assert.equal(cloud.device(chipid).received.length, 1);
    });
  }

  it('shows and reports it: no credentials, as with another credential secret', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), ...users()], {});
    await checkRefusal(cloud, ['push', 'server', 'listen']);
  });

  it('names the variable of a key that is not set', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')], { app: { ...CANARIES, appkey: UNSET } });
    await checkRefusal(cloud, ['push']);
    const { error } = await fail('push', { chipid, payload: 'x' }, 'NOT_CONFIGURED');
    assert.match(error.message, /DEVICE_CLOUD_TEST_UNSET is not set/);
  });

  it('works with variables that are set, for the keys as for the rest', async () => {
    const cloud = await startCloud();
    const values = { BASE: `${cloud.baseUrl}/`, APPID: cloud.appid, ...CANARIES };
    const variable = (name: string): string => `DEVICE_CLOUD_TEST_${name}`;
    for (const [name, value] of Object.entries(values)) process.env[variable(name)] = value;
    try {
      const of = (name: string): string => `\${${variable(name)}}`;
      const keys = Object.keys(CANARIES).map((name) => [name, of(name)]);
      const app = cloudApp({ baseUrl: of('BASE'), appid: of('APPID') });
      await load([app, ...users()], { app: Object.fromEntries(keys) as object });
      await call('push', { chipid, payload: 'x' });
      await call('server', {});
    } finally {
      for (const name of Object.keys(values)) Reflect.deleteProperty(process.env, variable(name));
    }
    assert.equal(cloud.device(chipid).received.length, 1);
  });
});
