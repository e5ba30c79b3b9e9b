import assert from 'node:assert/strict';
import { proxy } from '../tooling/servers/proxy';
import { cloudApp, load, node } from './support/flow';
import type { FlowNode } from '../tooling/node-red/nodes';
import { journal } from './support/journal';
import { refusingProxy } from '../tooling/servers/hostile-servers';
import { send } from './support/messages';
import { keep, startCloud, useNodeRed } from './support/node-red';
import { ask } from './support/routes';
import { CANARIES, PROXY_CANARIES } from './support/secrets';
import { until } from '../tooling/until';

const chipid = '10000001';
const { username, password } = PROXY_CANARIES;
const userInfo = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
const withUser = (url: string): string => url.replace('//', `//${userInfo}@`);
const BASIC = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

interface Setting {
  nodes: FlowNode[];
  app: object;
  credentials: object;
  environment: Record<string, string>;
}

/** Where a proxy's user and password may be given. */
const PLACES: Record<string, (url: string) => Partial<Setting>> = {
  'the credentials of a proxy configuration': (url) => ({
    nodes: [{ id: 'proxy', type: 'http proxy', url, noproxy: [] }],
    app: { proxy: 'proxy' },
    credentials: { proxy: { ...PROXY_CANARIES } },
  }),
  'the address of a proxy configuration': (url) => ({
    nodes: [{ id: 'proxy', type: 'http proxy', url: withUser(url), noproxy: [] }],
    app: { proxy: 'proxy' },
  }),
  HTTP_PROXY: (url) => ({ environment: { HTTP_PROXY: withUser(url) } }),
};

/** A proxy, and who has asked it for a tunnel. */
interface Proxy {
  url: string;
  authorizations?: readonly unknown[];
}

/** What a proxy may do, and what becomes of a push then. */
const PROXIES: Record<string, [start: () => Promise<Proxy>, code: string | undefined]> = {
  'makes tunnels': [() => proxy(), undefined],
  'refuses and repeats who asked': [
    async () => ({ url: (await keep(refusingProxy())).baseUrl }),
    'UNREACHABLE',
  ],
  'never answers': [() => proxy('hang'), 'TIMEOUT'],
  'has no proper address': [() => Promise.resolve({ url: 'http://no port:x' }), 'NOT_CONFIGURED'],
};

describe('the user and password of a proxy', () => {
  useNodeRed();
  const saved = { ...process.env };
  beforeEach(() => {
    for (const name of ['HTTP_PROXY', 'http_proxy']) Reflect.deleteProperty(process.env, name);
  });
  afterEach(() => {
    for (const name of ['HTTP_PROXY', 'http_proxy']) {
      if (saved[name] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = saved[name];
    }
  });

  for (const [place, settingOf] of Object.entries(PLACES)) {
    for (const [what, [start, code]] of Object.entries(PROXIES)) {
      it(`from ${place} appear nowhere if the proxy ${what}`, async () => {
        const cloud = await startCloud();
        const through = await start();
        const { nodes = [], app = {}, credentials = {}, environment = {} } = settingOf(through.url);
        Object.assign(process.env, environment);
        // Only the one that ends in a time-out waits for it.
        const timeout = code === 'TIMEOUT' ? '1' : '30';
        const config = cloudApp(cloud, { timeout, ...app });
        const users = [node('push', { timeout }), node('listen', { chipids: [chipid] })];
        await load([...nodes, config, ...users], { app: { ...CANARIES }, ...credentials });
        const { error } = await send('push', { chipid, payload: 'x' });
        assert.equal((error as { code?: string } | undefined)?.code, code);
        if (code === undefined) assert.equal(through.authorizations?.[0], BASIC);
        await until(
          () => journal.statuses.some(({ id }) => id === 'listen'),
          'the listener has shown something',
        );
        // The editor would wait for it for ten seconds.
        if (code === 'TIMEOUT') return;
        const { baseUrl, appid } = cloud;
        const typed = { id: 'app', baseUrl, appid, timeout, ...app };
        await ask('apps/app/devices');
        await ask('apps/test', { body: typed });
      });
    }
  }
});
