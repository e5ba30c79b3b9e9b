import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mock } from 'node:test';
import type { DeviceCloudClient } from '../../../src/client';
import { KEYS } from '../support/client';

const load = createRequire(__filename);

/** Loads the client once more, since the limiters of the first have a history in this process. */
function freshClient(): typeof DeviceCloudClient {
  const path = load.resolve('../../../src/client');
  const known = load.cache[path];
  Reflect.deleteProperty(load.cache, path);
  try {
    return (load(path) as { DeviceCloudClient: typeof DeviceCloudClient }).DeviceCloudClient;
  } finally {
    load.cache[path] = known;
  }
}

describe('the attempts of all clients of a process', () => {
  afterEach(() => mock.reset());

  it('are together at most 50 a second to one service, with turns for each client', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let clock = 0;
    mock.method(performance, 'now', () => clock);
    const Client = freshClient();
    const services = ['http://127.0.0.1:1', 'http://127.0.0.1:1', 'http://127.0.0.1:2'];
    const attempts = services.map(() => 0);
    const clients = services.map((baseUrl, index) => {
      // The address is signed first: an attempt ends there, and no socket is opened.
      const now = (): number => {
        attempts[index]! += 1;
        throw new Error('noted');
      };
      return new Client({ baseUrl, ...KEYS, proxy: false, now });
    });
    for (let chipid = 1; chipid <= 100; chipid++) {
      for (const client of clients) client.listen(chipid, {});
    }
    // The fiftieth turn comes at the end of the second.
    for (; clock < 1010; clock++) mock.timers.tick(1);
    assert.deepEqual(attempts, [25, 25, 50]);
    await Promise.all(clients.map((client) => client.close()));
  });
});
