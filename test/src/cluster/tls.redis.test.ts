import { spawnSync } from 'node:child_process';
import { openRedisStore, type RedisStoreSettings } from '../../../src/cluster/redis/redis-store';
import type { Store } from '../../../src/cluster/store';
import { atEnd } from '../../../tooling/servers/at-end';
import { certificateFiles, ELSEWHERE, LOCALHOST, LOOPBACK } from '../../../tooling/servers/certs';
import { freePort } from '../../../tooling/servers/ports';
import { startRedis, startSentinel } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { startRedisCluster } from './redis-cluster';

/** One that was built without TLS does not know the directive; one that has it finds that it is to listen nowhere. */
const hasTls = (): boolean =>
  !/Bad directive/.test(
    String(spawnSync('redis-server', ['--port', '0', '--tls-port', '0']).output),
  );

/** The lines of a configuration by which a server shows a certificate, which it also takes from clients. */
function shows(name: 'loopback' | 'localhost', port: number, clients: 'no' | 'yes'): string[] {
  const { cert, key } = certificateFiles(name);
  return [
    ...[`tls-port ${port}`, `tls-cert-file ${cert}`, `tls-key-file ${key}`],
    ...[`tls-ca-cert-file ${cert}`, `tls-auth-clients ${clients}`],
  ];
}

/** What a server behind these options answers in the end. */
async function answer(
  options: Omit<RedisStoreSettings, 'application'>,
  expected: RegExp,
): Promise<void> {
  const store: Store = await openRedisStore({ ...options, application: '1', limit: 500 });
  atEnd(() => store.close());
  const ask = (): Promise<string> => store.load(['1']).then(() => 'an answer', String);
  let said = '';
  const isExpected = async (): Promise<boolean> => expected.test((said = await ask()));
  await until(isExpected, `${String(expected)} is said`).catch((error: unknown) => {
    throw new Error(`It said: ${said}`, { cause: error });
  });
}

describe('a server with TLS', () => {
  before(function () {
    if (!hasTls()) this.skip();
  });

  const ca = LOOPBACK.cert;
  const GOOD = /an answer/;
  const WRONG = /self-signed certificate/;

  it('is reached with its certificate authority, and with another or none the reason is reported', async () => {
    const port = await freePort();
    const redis = await startRedis({ config: shows('loopback', port, 'no') });
    atEnd(() => redis.end());
    const url = `rediss://127.0.0.1:${port}`;
    await answer({ url, tls: { ca } }, GOOD);
    await answer({ url: url.replace('rediss', 'redis'), tls: { ca } }, GOOD);
    await answer({ url }, WRONG);
    await answer({ url, tls: { ca: ELSEWHERE.cert } }, WRONG);
    await answer({ url, tls: { ca, servername: 'elsewhere.test' } }, /does not match certificate/);
  });

  it('accepts a client with a certificate of its authority', async () => {
    const port = await freePort();
    const redis = await startRedis({ config: shows('loopback', port, 'yes') });
    atEnd(() => redis.end());
    const url = `rediss://127.0.0.1:${port}`;
    await answer({ url, tls: { ca, ...LOOPBACK } }, GOOD);
    await answer({ url, tls: { ca } }, /alert certificate required/);
    await answer({ url, tls: { ca, ...ELSEWHERE } }, /alert unknown ca/);
  });

  it('is found through Sentinels with TLS', async () => {
    const [port, own] = [await freePort(), await freePort()];
    const redis = await startRedis({ config: shows('loopback', port, 'no') });
    atEnd(() => redis.end());
    const sentinel = await startSentinel(port, [
      ...shows('loopback', own, 'no'),
      'tls-replication yes',
    ]);
    atEnd(() => sentinel.end());
    const options = { sentinels: `127.0.0.1:${own}`, master: 'primary' };
    await answer({ ...options, tls: { ca } }, GOOD);
    await answer({ ...options, tls: { ca: ELSEWHERE.cert } }, WRONG);
    await answer({ ...options, sentinels: '127.0.0.1:1' }, /ECONNREFUSED/);
  });

  it('may be a Redis Cluster whose certificates name hosts, not addresses', async () => {
    const port = await freePort();
    const redis = await startRedisCluster([
      ...[...shows('localhost', port, 'no'), 'tls-cluster yes'],
      ...['cluster-announce-hostname localhost', 'cluster-preferred-endpoint-type hostname'],
    ]);
    atEnd(() => redis.end());
    const node = `rediss://localhost:${port}`;
    const url = `${node},${node}`;
    await answer({ url, tls: { ca: LOCALHOST.cert } }, GOOD);
    await answer({ url, tls: { ca: ELSEWHERE.cert } }, WRONG);
  });
});
