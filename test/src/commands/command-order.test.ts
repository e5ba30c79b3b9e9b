import assert from 'node:assert/strict';
import { serving, simulated } from '../support/client';
import { failure } from '../support/failure';
import { hang, inSequence, json, type Script } from '../../tooling/servers/http-service';
import { CHIPID } from '../support/listener';
import { manual } from '../support/manual';
import { heldTimers, HOUR } from '../../support/held-timers';
import { until } from '../../tooling/until';

const ok = json({ status: 'online', msg: 'OK' });

describe('commands to one device', () => {
  it('of every kind wait for each other', async () => {
    const { service, client } = await simulated({ answerDelay: 2 });
    await Promise.all([
      client.push(CHIPID, 'x'),
      client.rtStatus(CHIPID, 'uptime'),
      client.gpioStatus(CHIPID),
      client.setGpioEdge(CHIPID, 1, 1),
      client.refresh(CHIPID),
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
      'reboot',
    ]);
  });

  it('do not wait for reads of the cloud, and reads do not wait for them', async () => {
    const { service, client } = await serving((response, request, count) => {
      (request.method === 'POST' ? hang : json([]))(response, request, count);
    });
    const command = failure(client.push(CHIPID, 'x'), 'CONNECTION_LOST');
    await until(() => service.requests.length === 1);
    assert.deepEqual((await client.uploadHistory(CHIPID)).body, []);
    await Promise.all([client.close(), command]);
  });

  it('have a time limit that begins with their turn', async () => {
    const expire = heldTimers();
    const answer = manual();
    const late: Script = (response, request, count) => {
      void answer.promise.then(() => ok(response, request, count));
    };
    const { service, client } = await serving(inSequence(late, ok));
    const first = client.push(CHIPID, 'a');
    const second = client.push(CHIPID, 'b', { timeout: HOUR });
    await until(() => service.requests.length === 1);
    expire();
    answer.resolve();
    assert.deepEqual((await Promise.all([first, second])).length, 2);
    assert.equal(service.requests.length, 2);
  });

  it('keep the configured gap', async () => {
    const times: number[] = [];
    const { client } = await serving(
      (response, request, count) => {
        times.push(performance.now());
        ok(response, request, count);
      },
      { deviceGap: 50 },
    );
    await Promise.all(['a', 'b', 'c'].map((text) => client.push(CHIPID, text)));
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    // Timers of Node.js may be a millisecond early.
    assert.ok(
      gaps.every((gap) => gap >= 48),
      `gaps of ${gaps.join(' and ')} ms`,
    );
  });
});
