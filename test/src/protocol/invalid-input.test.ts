import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import { clientOf } from '../support/client';
import { failure } from '../support/failure';
import { gone, resources } from '../support/resources';
import { httpService, json, type HttpService } from '../../tooling/servers/http-service';
import { settled } from '../../tooling/until';

const fail = (): never => {
  throw new RangeError('Canary');
};
const throwing = (name: string, of: object = {}): object =>
  Object.defineProperty(of, name, { get: fail, enumerable: true });

/** Values that throw when they are read. */
const UNREADABLE: readonly unknown[] = [
  throwing('a'),
  { toString: fail, valueOf: fail, toJSON: fail },
  Object.assign(throwing(Symbol.toStringTag as never), { toJSON: fail }),
  Object.assign(new Date(), { getTime: fail, toJSON: fail }),
];
/** Values that no method of the open API accepts. The server API accepts them as objects. */
const PROXIES: readonly unknown[] = [
  new Proxy(new Date(), { get: fail }),
  new Proxy(new Uint8Array(2), {}),
];

const circular: Record<string, unknown> = {};
circular['self'] = circular;

/** What is wrong for an argument. Of most kinds it has tests of its own: here, that each method looks at it. */
const WRONG = {
  chipid: ['../x', 1.5, null],
  pin: [-1, undefined],
  level: [2, 'true'],
  message: [undefined, NaN],
  day: ['20260230', '../apps', null],
  key: ['', null, 1, '\ud800'],
  deviceid: [
    ...['', null, undefined, '..', '../x', 'a/b', '%2f', 'a?b', 'a b', 'a\r\nb', 'ä'],
    ...['a'.repeat(65), 1.5, 2 ** 53, {}],
  ],
  body: [
    ...[undefined, null, '{"a":1}', 1, [1], Buffer.from('{}'), new Uint8Array(2), new Date()],
    ...[new Map([['a', 1]]), Object('x'), circular, { a: 1n }],
    ...[{ toJSON: () => undefined }, { toJSON: () => 'x' }],
  ],
  query: [
    ...['page=1', 1, [1], Buffer.from('page=1'), new Date(), { a: { b: 1 } }, { a: [1] }],
    ...[{ a: null }, { a: undefined }, { a: NaN }, { a: '\ud800' }, { '\ud800': 1 }],
  ],
} satisfies Record<string, unknown[]>;
type Kind = keyof typeof WRONG;

const ONE = { chipid: 1 };
const PUSHED = { ...ONE, message: 'x' };
const PIN = { ...ONE, pin: 1, level: 1 };
const SERVER = { deviceid: 'a', body: {} };

/** The arguments of each method, before its options. */
const METHODS = {
  app: {},
  devices: {},
  push: PUSHED,
  pushToApp: { message: 'x' },
  pushOverChannel: PUSHED,
  request: PUSHED,
  uploadHistory: ONE,
  pushHistory: ONE,
  rtStatus: { ...ONE, key: 'key' },
  gpioStatus: ONE,
  setGpioEdge: PIN,
  pulseGpio: PIN,
  refresh: ONE,
  reboot: ONE,
  serverDevices: { query: {} },
  serverDevice: { deviceid: 'a' },
  serverUpdate: SERVER,
  serverPassthrough: SERVER,
  serverUploads: { query: { page: 1 } },
} satisfies Partial<Record<keyof DeviceCloudClient, Partial<Record<Kind, unknown>>>>;
type Method = keyof typeof METHODS;

/** What is wrong for an option of every method, and for those of some. */
const OPTIONS: readonly [property: string, of: RegExp, values: readonly unknown[]][] = [
  [
    'signal',
    /./,
    [
      ...[{}, 'x', 1, true, new AbortController(), new EventTarget(), throwing('aborted')],
      { aborted: false, addEventListener: fail, removeEventListener: fail },
    ],
  ],
  ['onProgress', /./, ['x', {}]],
  ['format', /^push(?!History)|request/, ['msg', 1]],
  ['when', /^push$|setGpioEdge|reboot/, ['NOW', null, ['now']]],
];

describe('invalid input never reaches the network', () => {
  let service: HttpService;
  let client: DeviceCloudClient;
  beforeEach(async () => {
    service = await httpService(json({ msg: 'OK' }));
    client = clientOf(service.baseUrl);
  });

  const isRefused = async (method: string, args: readonly unknown[], what: string) => {
    const call = async (): Promise<unknown> =>
      (client[method as Method] as (...args: readonly unknown[]) => unknown)(...args);
    const { message } = await failure(call(), 'INVALID_INPUT').catch((error: unknown) => {
      throw new Error(`${method}: ${what}`, { cause: error });
    });
    assert.match(
      message,
      /^INVALID_INPUT: (The|A|onProgress|when|B64|HEX) [^]*\.$/,
      `${method}: ${what}`,
    );
    assert.doesNotMatch(message, /Canary/, `${method}: ${what}`);
  };

  for (const [method, good] of Object.entries(METHODS)) {
    it(`as an argument or an option of ${method}; the next valid call works`, async () => {
      await settled(1);
      const before = resources();
      const args = Object.values(good) as unknown[];
      const unreadable = method.startsWith('server') ? UNREADABLE : [...UNREADABLE, ...PROXIES];
      for (const [index, kind] of (Object.keys(good) as Kind[]).entries())
        for (const [at, value] of [...WRONG[kind], ...unreadable].entries())
          await isRefused(method, args.with(index, value), `${kind}, ${at}`);
      const match = 'next';
      for (const [name, of, values] of OPTIONS)
        for (const [at, value] of of.test(method) ? values.entries() : [])
          await isRefused(method, [...args, { match, [name]: value }], `${name}, ${at}`);
      for (const name of ['timeout', 'signal'])
        await isRefused(method, [...args, throwing(name, { match })], `${name} that throws`);
      await gone(before);
      assert.equal(service.connections(), 0);
      await client.push(1, 'good');
      assert.equal(service.requests.length, 1);
    });
  }

  it('as a day of a synchronisation', async () => {
    for (const bad of [...WRONG.day, ...UNREADABLE, ...PROXIES]) {
      await isRefused('appHistory', [bad, '20260301'], 'begin');
      await isRefused('appHistory', ['20260101', bad], 'end');
    }
    assert.equal(service.connections(), 0);
  });

  it('as a device to listen to, or an option of recovery', async () => {
    for (const bad of [...WRONG.chipid, ...UNREADABLE, ...PROXIES])
      await isRefused('listen', [bad, {}], 'chipid');
    for (const name of ['zone', 'start', 'save'])
      await isRefused('listen', [1, {}, throwing(name)], name);
    await settled();
    assert.equal(service.connections(), 0);
  });
});
