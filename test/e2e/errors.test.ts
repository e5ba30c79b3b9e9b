import assert from 'node:assert/strict';
import type { FaultName } from '../../src/simulator';
import { openEditor } from './harness/editor';
import { ONE, fixture } from './harness/fixture';
import { until } from '../../tooling/until';
import { around, idOf } from './harness/flows';
import type { Message } from './harness/node-red';
import { app, node } from '../../tooling/node-red/nodes';

/** A port of the reserved ones that nobody listens on. */
const NOBODY = 'http://127.0.0.1:1';

describe('every error code reaches a Catch node, once', () => {
  const here = fixture((simulator) => [
    app(simulator),
    app(simulator, { id: 'no-keys' }, { appkey: '', serverKey: '' }),
    app(simulator, { id: 'no-variable' }, { appkey: '${DEVICE_CLOUD_E2E_UNSET}' }),
    app(simulator, { id: 'disabled', d: true }),
    app(simulator, { id: 'nobody', baseUrl: NOBODY }),
    app(simulator, { id: 'with-path', baseUrl: `${simulator.baseUrl}/path` }),
    // Time enough for 70 MB, however busy the machine is.
    ...around('push', node('push', { timeout: '60' })),
    ...around('hasty', node('push', { timeout: '3' })),
    ...around('channel', node('push', { transport: 'channel', timeout: '1' })),
    ...around('gpio', node('gpio')),
    ...around('list', node('devices')),
    ...around('absent', node('push', { app: '' })),
    ...around('unknown', node('push', { app: 'no-such-node' })),
    ...around('no-keys', node('push', { app: 'no-keys' })),
    ...around('no-server-keys', node('server', { app: 'no-keys' })),
    ...around('no-variable', node('push', { app: 'no-variable' })),
    ...around('disabled', node('push', { app: 'disabled' })),
    ...around('with-path', node('push', { app: 'with-path' })),
    ...around('nobody', node('push', { app: 'nobody' })),
  ]);

  /** Sends a good message and gives the error that comes of it, having checked all it must have. */
  async function failure(name: string, code: string, message: Message = {}): Promise<Message> {
    const { sent, error } = await here.red.ask(name, { chipid: ONE, payload: 'x', ...message });
    assert.deepEqual(sent, [], 'a message that failed is not sent on');
    assert.equal(error?.error?.code, code, error?.error?.message);
    assert.equal(error.error.source.id, idOf(name));
    assert.ok(error.error.message.length > 20, 'the message says what to do');
    return error;
  }

  const requests = (): number => here.simulator.requests.length;

  for (const [fault, code, statusCode] of [
    ['bad-request', 'BAD_REQUEST', 400],
    ['unauthorized', 'UNAUTHORIZED', 401],
    ['forbidden', 'UNAUTHORIZED', 403],
    ['not-found', 'NOT_FOUND', 404],
    ['redirect', 'REDIRECT', 302],
    ['gateway', 'GATEWAY', 502],
    ['gateway-timeout', 'GATEWAY', 504],
    ['server-error', 'SERVER_ERROR', 500],
    ['server-error-bare', 'SERVER_ERROR', 500],
    ['unavailable', 'SERVER_ERROR', 503],
    ['too-many', 'UNEXPECTED_STATUS', 429],
    ['odd-status', 'UNEXPECTED_STATUS', 299],
    ['empty', 'INVALID_RESPONSE', 200],
    ['html', 'INVALID_RESPONSE', 200],
    ['null', 'INVALID_RESPONSE', 200],
    ['array', 'INVALID_RESPONSE', 200],
    ['broken-json', 'INVALID_RESPONSE', 200],
    ['gzip', 'INVALID_RESPONSE', 200],
    ['huge', 'INVALID_RESPONSE', undefined],
    ['reset', 'CONNECTION_LOST', undefined],
    ['truncated', 'CONNECTION_LOST', undefined],
    ['reset-in-body', 'CONNECTION_LOST', undefined],
  ] as const satisfies readonly (readonly [FaultName, string, number | undefined])[]) {
    it(`${code} when a push meets the fault ${fault}; it is not repeated, and the next one works`, async () => {
      const before = requests();
      here.simulator.fail(fault, { times: 1 });
      const error = await failure('push', code);
      assert.equal(requests(), before + 1);
      // An answer that was broken off in the middle may or may not be given its status.
      if (statusCode !== undefined) assert.equal(error['statusCode'], statusCode);
      const { sent } = await here.red.ask('push', { chipid: ONE, payload: 'again' });
      assert.deepEqual(sent[0]?.payload, { msg: 'OK' });
    });
  }

  for (const fault of ['hang', 'slow-headers', 'trickle'] as const) {
    it(`TIMEOUT when a push meets the fault ${fault}`, async () => {
      here.simulator.fail(fault, { times: 1 });
      const error = await failure('hasty', 'TIMEOUT');
      assert.match(error.error!.message, /10000001.*offline.*unknown/s);
    });
  }

  it("repeats the service's own words", async () => {
    here.simulator.fail('gateway', { times: 1 });
    const error = await failure('gpio', 'GATEWAY', { pin: 1, payload: 1 });
    assert.match(error.error!.message, /the gateway failed/);
  });

  it('a read that only touches the cloud is tried three times before it fails', async () => {
    const before = requests();
    here.simulator.fail('gateway', { times: 3 });
    await failure('list', 'GATEWAY');
    assert.equal(requests(), before + 3);
    here.simulator.fail('reset', { times: 2 });
    assert.equal((await here.red.ask('list', {})).error, undefined);
  });

  it('UNREACHABLE when nobody listens at the address', async () => {
    await failure('nobody', 'UNREACHABLE');
  });

  it('NOT_CONNECTED when a channel does not come about in time', async () => {
    const lift = here.simulator.fail('hang-upgrade');
    await failure('channel', 'NOT_CONNECTED');
    lift();
  });

  it('NOT_FOUND when the simulator has no such device', async () => {
    await failure('push', 'NOT_FOUND', { chipid: 99999999 });
  });

  for (const [name, why] of [
    ['absent', 'no configuration is chosen'],
    ['unknown', 'the configuration does not exist'],
    ['disabled', 'the configuration is disabled'],
    ['no-keys', 'the application key is missing'],
    ['no-server-keys', 'the server key is missing'],
    ['no-variable', 'the application key is a variable that is not set'],
    ['with-path', 'the address has a path'],
  ] as const) {
    it(`NOT_CONFIGURED when ${why}, red from the start and without touching the network`, async () => {
      const before = requests();
      const editor = await openEditor(here.red.url);
      await until(() => editor.statuses.get(idOf(name))?.fill === 'red', 'the node is red');
      editor.close();
      await failure(name, 'NOT_CONFIGURED');
      assert.equal(requests(), before);
    });
  }
});
