import assert from 'node:assert/strict';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf } from '../support/client';
import { failure } from '../support/failure';
import { listen } from '../support/listener';
import { proxy } from '../../tooling/servers/proxy';
import { gone, resources } from '../support/resources';
import { until } from '../../tooling/until';
import { wireService } from '../../tooling/servers/wire-service';

describe('closing a client while a channel connects', () => {
  for (const scheme of ['http:', 'https:']) {
    it(`ends an upgrade over ${scheme} that is never answered, and the push that waits for it`, async () => {
      const service = await wireService(() => undefined);
      const before = resources();
      const client = clientOf(service.baseUrl.replace('http:', scheme));
      const listener = listen(client);
      const push = failure(client.pushOverChannel('2', 'x'), 'NOT_CONNECTED');
      await until(() => service.sockets() === 2, 'both connections');
      await Promise.all([client.close(), push]);
      await until(() => service.sockets() === 0, 'the end of the connections');
      await gone(before);
      assert.deepEqual(listener.changes, []);
    });
  }

  it('ends a back-off', async () => {
    const service = await channelService((channel) => channel.close(1011));
    const before = resources();
    const client = clientOf(service.baseUrl, { random: () => 0.999 });
    const listener = listen(client);
    await listener.state('disconnected');
    await client.close();
    await gone(before);
    assert.equal(service.opened(), 1);
  });

  it('ends tunnels that a proxy never completes', async () => {
    const through = await proxy('hang');
    const before = resources();
    const client = clientOf('http://inside.invalid', { proxy: { url: through.url } });
    listen(client);
    const push = failure(client.push(1, 'x'), 'UNREACHABLE');
    await until(() => through.targets.length === 2);
    await Promise.all([client.close(), push]);
    // At once, and not only when their own time is over.
    await gone(before);
    assert.equal(through.sockets(), 0);
  });
});
