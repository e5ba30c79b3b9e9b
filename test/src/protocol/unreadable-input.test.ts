import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import { clientOf } from '../support/client';
import { failure } from '../support/failure';
import { httpService, json, type HttpService } from '../../tooling/servers/http-service';
import { settled } from '../../tooling/until';

const fail = (): never => {
  throw new RangeError('Canary');
};

/** Values that throw when they are read. */
const UNREADABLE: readonly [what: string, value: () => unknown][] = [
  ['a getter that throws', () => Object.defineProperty({}, 'a', { get: fail, enumerable: true })],
  ['methods that throw', () => ({ toString: fail, valueOf: fail, toJSON: fail })],
  [
    'a tag that throws',
    () => ({
      get [Symbol.toStringTag]() {
        return fail();
      },
      toJSON: fail,
    }),
  ],
  ['a Date that throws', () => Object.assign(new Date(), { getTime: fail, toJSON: fail })],
];

/** Values that no method of the open API accepts. The server API accepts them as objects. */
const PROXIES: typeof UNREADABLE = [
  ['a proxy of a Date', () => new Proxy(new Date(), { get: fail })],
  ['a proxy of bytes', () => new Proxy(new Uint8Array(2), {})],
];

/** Options with a property that throws when it is read, or whose value does. */
const UNREADABLE_OPTIONS: readonly [what: string, options: () => unknown][] = [
  ['a time-out that throws', () => Object.defineProperty({}, 'timeout', { get: fail })],
  ['a signal that throws', () => Object.defineProperty({}, 'signal', { get: fail })],
  [
    'a signal whose state throws',
    () => ({ signal: Object.defineProperty({}, 'aborted', { get: fail }) }),
  ],
  [
    'a signal that takes no listener',
    () => ({ signal: { aborted: false, addEventListener: fail, removeEventListener: fail } }),
  ],
];

type Method =
  | ('app' | 'devices' | 'push' | 'pushToApp' | 'pushOverChannel' | 'request')
  | ('uploadHistory' | 'pushHistory' | 'appHistory')
  | ('rtStatus' | 'gpioStatus' | 'setGpioEdge' | 'pulseGpio' | 'refresh' | 'reboot')
  | `server${'Devices' | 'Device' | 'Update' | 'Passthrough' | 'Uploads'}`
  | 'listen';

/** The arguments of each method, and the options after them. */
const GOOD: Readonly<Record<Method, readonly unknown[]>> = {
  app: [],
  devices: [],
  push: [1, 'x'],
  pushToApp: ['x'],
  pushOverChannel: [1, 'x'],
  uploadHistory: [1],
  pushHistory: [1],
  appHistory: ['20260101', '20260102'],
  request: [1, 'x'],
  rtStatus: [1, 'key'],
  gpioStatus: [1],
  setGpioEdge: [1, 1, 1],
  pulseGpio: [1, 1, 1],
  refresh: [1],
  reboot: [1],
  serverDevices: [{}],
  serverDevice: ['a'],
  serverUpdate: ['a', {}],
  serverPassthrough: ['a', {}],
  serverUploads: [{}],
  listen: [1, {}],
};

describe('a value that throws when it is read', () => {
  let service: HttpService;
  let client: DeviceCloudClient;
  beforeEach(async () => {
    service = await httpService(json({}));
    client = clientOf(service.baseUrl);
  });

  const call = async (method: Method, args: readonly unknown[]): Promise<unknown> =>
    (client[method] as (...args: readonly unknown[]) => unknown)(...args);

  const isRefused = async (method: Method, args: readonly unknown[], what: string) => {
    const { message } = await failure(call(method, args), 'INVALID_INPUT').catch(
      (error: unknown) => {
        throw new Error(`${method}: ${what}`, { cause: error });
      },
    );
    assert.match(message, /^INVALID_INPUT: (The|A|B64|HEX) [^]*\.$/, `${method}: ${what}`);
    assert.doesNotMatch(message, /Canary/, `${method}: ${what}`);
  };

  for (const [method, good] of Object.entries(GOOD) as [Method, readonly unknown[]][]) {
    it(`is INVALID_INPUT for each argument of ${method}, and for its options`, async () => {
      for (const [index] of good.entries()) {
        if (method === 'listen' && index === 1) continue;
        const values = method.startsWith('server') ? UNREADABLE : [...UNREADABLE, ...PROXIES];
        for (const [what, value] of values) {
          await isRefused(method, good.with(index, value()), `${what} as argument ${index}`);
        }
      }
      for (const [what, options] of method === 'listen' ? [] : UNREADABLE_OPTIONS) {
        await isRefused(method, [...good, options()], `${what} as options`);
      }
      await settled();
      assert.equal(service.connections(), 0);
    });
  }

  it('is INVALID_INPUT for the options of recovery, and opens no channel', async () => {
    const names = ['zone', 'start', 'save'];
    const getters = names.map((name) => Object.defineProperty({}, name, { get: fail }));
    for (const recover of getters)
      await isRefused('listen', [1, {}, recover], 'the options of recovery');
    await settled();
    assert.equal(service.connections(), 0);
  });
});
