import assert from 'node:assert/strict';
import { clientOf, simulator } from '../support/client';
import { failure, failures } from '../support/failure';
import {
  hang,
  httpService,
  inTurn,
  json,
  type Script,
} from '../../../tooling/servers/http-service';
import { CHIPID } from '../support/listener';
import { until } from '../../../tooling/until';

const OTHER = '10000002';
const ok = json({ msg: 'OK' });
const texts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `command ${index}`);

describe('commands to one device', () => {
  it('arrive in the order in which they were made, one at a time', async () => {
    const service = await simulator({ answerDelay: 2 });
    const client = clientOf(service.baseUrl);
    await Promise.all(texts(20).map((text) => client.push(CHIPID, text)));
    const device = service.device(CHIPID);
    assert.deepEqual(
      device.received.map(({ text }) => text),
      texts(20),
    );
    assert.equal(device.maxInFlight, 1);
  });

  it('of every kind wait for each other', async () => {
    const service = await simulator({ answerDelay: 2 });
    const client = clientOf(service.baseUrl);
    await Promise.all([
      client.push(CHIPID, 'x'),
      client.rtStatus(CHIPID, 'uptime'),
      client.gpioStatus(CHIPID),
      client.setGpioEdge(CHIPID, 1, 1),
      client.refresh(CHIPID),
      client.serverPassthrough(CHIPID, { data: 'y' }),
      client.reboot(Number(CHIPID)),
    ]);
    assert.equal(service.device(CHIPID).maxInFlight, 1);
    const kinds = service.requests.map(({ path }) => path.split('/')[2]);
    assert.deepEqual(kinds, [
      'dev',
      'rt_status',
      'gpio_status',
      'set_gpio_edge',
      'manual_refresh',
      'server',
      'reboot',
    ]);
  });

  it('do not hold those to another device up', async () => {
    const service = await simulator();
    service.fail('hang', { chipid: CHIPID });
    const client = clientOf(service.baseUrl);
    const slow = failure(client.push(CHIPID, 'slow', { timeout: 60 }), 'CONNECTION_LOST');
    await until(() => service.requests.length === 1);
    assert.deepEqual((await client.push(OTHER, 'quick')).body, { msg: 'OK' });
    await Promise.all([client.close(), slow]);
  });

  it('two slow devices are served side by side', async () => {
    const service = await httpService(hang);
    const client = clientOf(service.baseUrl);
    const calls = failures(
      [CHIPID, OTHER].map((chipid) => client.push(chipid, 'x')),
      'CONNECTION_LOST',
    );
    await until(() => service.requests.length === 2, 'both commands at once');
    await Promise.all([client.close(), calls]);
  });

  it('do not wait for reads of the cloud, nor these for them', async () => {
    const service = await httpService((response, request, count) => {
      (request.method === 'POST' ? hang : json([]))(response, request, count);
    });
    const client = clientOf(service.baseUrl);
    const command = failure(client.push(CHIPID, 'x'), 'CONNECTION_LOST');
    await until(() => service.requests.length === 1);
    assert.deepEqual((await client.uploads(CHIPID)).body, []);
    await Promise.all([client.close(), command]);
  });

  it('go on after one that failed', async () => {
    const service = await httpService(inTurn(json({ msg: 'm' }, 500), hang, ok));
    const client = clientOf(service.baseUrl);
    const [, , third] = await Promise.all([
      failure(client.push(CHIPID, 'a'), 'SERVER_ERROR'),
      failure(client.push(CHIPID, 'b', { timeout: 1 }), 'TIMEOUT'),
      client.push(CHIPID, 'c'),
    ]);
    assert.deepEqual(third.body, { msg: 'OK' });
  });

  it('have their time from when their turn comes', async () => {
    const late: Script = (response, request, count) => {
      setTimeout(() => ok(response, request, count), 1600);
    };
    const service = await httpService(inTurn(late, ok));
    const client = clientOf(service.baseUrl);
    const first = client.push(CHIPID, 'a', { timeout: 60 });
    const second = client.push(CHIPID, 'b', { timeout: 1.5 });
    assert.deepEqual((await Promise.all([first, second])).length, 2);
    assert.equal(service.requests.length, 2);
  });

  it('number 102 is QUEUE_FULL, and the others are not lost', async () => {
    let answer = false;
    const service = await httpService((response, request, count) => {
      if (answer) ok(response, request, count);
      else void until(() => answer).then(() => ok(response, request, count));
    });
    const client = clientOf(service.baseUrl);
    const calls = texts(101).map((text) => client.push(CHIPID, text));
    const { message } = await failure(client.push(CHIPID, 'one more'), 'QUEUE_FULL');
    assert.match(message, /device 10000001 was not sent.*100 commands/);
    await failure(client.pushOverChannel(CHIPID, 'one more'), 'QUEUE_FULL');
    answer = true;
    await Promise.all(calls);
    const sent = service.requests.map(({ body }) => new URLSearchParams(body).get('message'));
    assert.deepEqual(sent, texts(101));
  });

  it('that are no longer wanted while they wait are not sent', async () => {
    const service = await httpService(inTurn(hang, ok));
    const client = clientOf(service.baseUrl);
    const controller = new AbortController();
    const { signal } = controller;
    const all = Promise.all([
      failure(client.push(CHIPID, 'a', { timeout: 1 }), 'TIMEOUT'),
      failure(client.push(CHIPID, 'unwanted', { signal }), 'UNREACHABLE'),
      client.push(CHIPID, 'c'),
    ]);
    controller.abort();
    await all;
    assert.ok(!service.requests.some(({ body }) => body.includes('unwanted')));
  });

  it('keep the gap that was set', async () => {
    const times: number[] = [];
    const service = await httpService((response, request, count) => {
      times.push(performance.now());
      ok(response, request, count);
    });
    const client = clientOf(service.baseUrl, { deviceGap: 50 });
    await Promise.all(texts(3).map((text) => client.push(CHIPID, text)));
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    // Timers of Node.js may be a millisecond early.
    assert.ok(
      gaps.every((gap) => gap >= 48),
      `gaps of ${gaps.join(' and ')} ms`,
    );
  });
});
