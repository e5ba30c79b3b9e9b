import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { clientOf, simulator } from '../support/client';
import { failure } from '../support/failure';
import { heldTimers } from '../../support/held-timers';
import { inEachDialect, isPublic } from '../../tooling/dialect';

const CHIPID = '10000001';
const PIN = 5;
/** Longer than any test: the pulse ends because something ends it. */
const LONG = { duration: 60_000 };
const SHORT = { duration: 20 };

inEachDialect('a pulse', () => {
  let cloud: Simulator;
  let client: DeviceCloudClient;

  async function start(options: SimulatorOptions = {}): Promise<void> {
    cloud = await simulator(options);
    client = clientOf(cloud.baseUrl);
  }
  const level = (): string | undefined => cloud.device(CHIPID).levels[PIN];
  /** The levels that were asked for, in order. */
  const edges = (): string[] =>
    cloud.requests
      .filter(({ path }) => !path.includes('devices/list'))
      .map(({ path }) => path.split('/').at(-2) ?? '');
  /** The first level is set, and the client has the answer: it came before that of a later call. */
  const firstSet = async (): Promise<void> => {
    await until(() => cloud.requests[0]?.status === 200, 'the first level is set');
    await client.devices();
  };
  const began = (): Promise<void> => until(() => edges().length > 0, 'the first level is sent');

  it('sets the level, and the opposite after its duration', async () => {
    await start();
    const { statusCode, body } = await client.pulseGpio(CHIPID, PIN, 'on', SHORT);
    assert.deepEqual([statusCode, body], [200, { result: isPublic() ? '\u0000' : 'OK' }]);
    assert.deepEqual(edges(), ['1', '0']);
    await client.pulseGpio(CHIPID, PIN, 0, SHORT);
    assert.deepEqual(edges(), ['1', '0', '0', '1']);
    assert.equal(level(), '1');
  });

  it('delays other commands to the device until its end, but no other device', async () => {
    await start();
    const controller = new AbortController();
    const options = { ...LONG, signal: controller.signal };
    const pulse = failure(client.pulseGpio(CHIPID, PIN, 1, options), 'CONNECTION_LOST');
    const behind = client.push(CHIPID, 'behind');
    await until(() => level() === '1', 'the first level is set');
    await client.push('10000002', 'beside');
    assert.equal(cloud.device(CHIPID).received.length, 0);
    controller.abort();
    await Promise.all([pulse, behind]);
    assert.deepEqual(edges(), ['1', 'message', '0', 'message']);
  });

  it('refuses a duration beyond its limits, before anything is sent', async () => {
    await start();
    for (const duration of [0, -1, 60_001, NaN, '500' as unknown as number]) {
      await failure(client.pulseGpio(CHIPID, PIN, 1, { duration }), 'INVALID_INPUT');
    }
    assert.deepEqual(edges(), []);
  });

  it('fails after the first call if that certainly set nothing', async () => {
    await start();
    cloud.fail('not-found', { times: 1 });
    const error = await failure(client.pulseGpio(CHIPID, PIN, 1, SHORT), 'NOT_FOUND');
    assert.match(error.message, /did not begin: pin 5 was left as it was\.$/);
    assert.deepEqual([error.statusCode, error.uncertain], [404, false]);
    assert.deepEqual(edges(), ['1']);
  });

  it('sends the opposite once if the outcome of the first is unknown, and fails', async () => {
    await start();
    cloud.fail('gateway', { times: 1, acts: true });
    const error = await failure(client.pulseGpio(CHIPID, PIN, 1, LONG), 'GATEWAY');
    assert.match(error.message, /was set back, and was left at low \(0\)\.$/);
    assert.equal(error.uncertain, true);
    assert.deepEqual([edges(), level()], [['1', '0'], '0']);
  });

  it('reports that the pin may have been left if both outcomes are unknown', async () => {
    await start();
    cloud.fail('reset', { acts: true });
    const error = await failure(client.pulseGpio(CHIPID, PIN, 1, LONG), 'CONNECTION_LOST');
    assert.match(error.message, /may have been left at high \(1\)\.$/);
    assert.deepEqual(edges(), ['1', '0']);
  });

  it('reports that the pin was left if the second call certainly set nothing', async () => {
    await start();
    cloud.fail('not-found', { path: `/${PIN}/0/` });
    const error = await failure(client.pulseGpio(CHIPID, PIN, 1, SHORT), 'NOT_FOUND');
    assert.match(error.message, /Pin 5 of device 10000001 was left at high \(1\)\.$/);
    assert.deepEqual([error.statusCode, error.uncertain], [404, true]);
    assert.deepEqual([edges(), level()], [['1', '0'], '1']);
  });

  it('is never reported as unsent once it has begun', async () => {
    await start();
    const pulse = failure(client.pulseGpio(CHIPID, PIN, 1, { duration: 1500 }), 'CONNECTION_LOST');
    await until(() => level() === '1', 'the first level is set');
    await cloud.close();
    const error = await pulse;
    assert.match(error.message, /Not sent.*was left at high \(1\)\.$/);
    assert.equal(error.uncertain, true);
  });

  it('is set back at once when its signal aborts', async () => {
    await start();
    const controller = new AbortController();
    const options = { ...LONG, signal: controller.signal };
    const pulse = failure(client.pulseGpio(CHIPID, PIN, 1, options), 'CONNECTION_LOST');
    await firstSet();
    controller.abort('enough');
    const error = await pulse;
    assert.match(error.message, /Cut short: enough\. .* was left at low \(0\)\.$/);
    assert.deepEqual([edges(), level()], [['1', '0'], '0']);
  });

  it('is set back when the client is closed, before close ends', async () => {
    await start();
    const waiting = failure(client.pulseGpio(CHIPID, PIN, 1, LONG), 'CONNECTION_LOST');
    await firstSet();
    await client.close();
    assert.equal(level(), '0');
    assert.match((await waiting).message, /Cut short: the client was closed/);
  });

  it('is set back even if the client is closed while the first level is being sent', async () => {
    await start({ answerDelay: 1000 });
    const pulse = failure(client.pulseGpio(CHIPID, PIN, 1, LONG), 'CONNECTION_LOST');
    await began();
    await client.close();
    assert.equal(level(), '0');
    assert.match((await pulse).message, /was left at low \(0\)\.$/);
  });

  it('delays a close by at most 3 s if there is no answer', async () => {
    await start();
    const pulse = failure(client.pulseGpio(CHIPID, PIN, 1, LONG), 'CONNECTION_LOST');
    await until(() => level() === '1', 'the first level is set');
    cloud.fail('hang');
    const expire = heldTimers(3000);
    const closed = client.close();
    await until(() => edges().length === 2, 'the opposite is sent');
    expire();
    await closed;
    const error = await pulse;
    assert.match(error.message, /longer than 3 s.*may have been left at high \(1\)\.$/s);
    assert.deepEqual(edges(), ['1', '0']);
  });
});
