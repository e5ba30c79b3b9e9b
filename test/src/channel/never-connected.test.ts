import assert from 'node:assert/strict';
import { CONNECTIONS } from '../../../src/http/pool';
import { clientOf, serving } from '../support/client';
import { failure, failures } from '../support/failure';
import { json } from '../../tooling/servers/http-service';
import { nextState } from '../support/listener';
import { proxy } from '../../tooling/servers/proxy';
import { wireService } from '../../tooling/servers/wire-service';

/** A device for each connection. */
const ALL = Array.from({ length: CONNECTIONS }, (_, index) => index);

/** Calls end in their own time; what they waited for is given up in its own, and blocks no later call. */
async function tlsThatNeverComesAbout(): Promise<void> {
  // Says nothing to the first ones; then it is not TLS, which fails at once.
  const service = await wireService(
    () => undefined,
    (socket) => {
      if (service.connections() > CONNECTIONS) socket.end('not TLS');
    },
  );
  const client = clientOf(service.baseUrl.replace('http:', 'https:'));
  const calls = ALL.map((chipid) => client.reboot(chipid, { timeout: 100 }));
  for (const { message } of await failures(calls, 'TIMEOUT')) assert.match(message, /Not sent/);
  await failure(client.reboot(1, { timeout: 25_000 }), 'UNREACHABLE');
}

async function tunnelThatIsNeverMade(): Promise<void> {
  const through = await proxy('hang');
  const { client } = await serving(json([]), { proxy: { url: through.url } });
  const calls = ALL.map((chipid) => client.push(chipid, 'x', { timeout: 100 }));
  for (const { message } of await failures(calls, 'TIMEOUT')) assert.match(message, /Not sent/);
  through.behaviour = 'tunnel';
  assert.deepEqual((await client.uploadHistory(1, { timeout: 25_000 })).body, []);
}

async function tunnelOfAChannelThatTrickles(): Promise<void> {
  const through = await proxy('trickle');
  const client = clientOf('http://inside.invalid', { proxy: { url: through.url } });
  const { reason } = await nextState(client, 'disconnected');
  assert.equal(reason, 'ETIMEDOUT');
  assert.ok(through.sockets() <= 1, 'the one of the next attempt alone');
}

async function tunnelOfAChannelWhoseProxyIsSilent(): Promise<void> {
  const through = await wireService(() => undefined);
  const url = through.baseUrl.replace('http:', 'https:');
  const client = clientOf('http://inside.invalid', { proxy: { url } });
  const { reason } = await nextState(client, 'disconnected');
  assert.equal(reason, 'ETIMEDOUT');
  assert.ok(through.sockets() <= 1, 'the one of the next attempt alone');
}

describe('a connection that is never established', () => {
  // Side by side, since each takes the five seconds that a connection may take.
  it('times out: TLS, the tunnel of a call, the tunnel of a channel, TLS to its proxy', async () => {
    await Promise.all([
      tlsThatNeverComesAbout(),
      tunnelThatIsNeverMade(),
      tunnelOfAChannelThatTrickles(),
      tunnelOfAChannelWhoseProxyIsSilent(),
    ]);
  });
});
