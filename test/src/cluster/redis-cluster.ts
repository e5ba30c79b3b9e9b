import { freePort } from '../../../tooling/servers/ports';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { redisCli } from './redis-cli';

/** A Redis Cluster of one node. @param config further lines of its configuration */
export async function startRedisCluster(config: readonly string[] = []): Promise<RedisProcess> {
  // The default is the port 10,000 above its own, which may be in use.
  const bus = await freePort();
  const own = ['cluster-enabled yes', 'cluster-announce-ip 127.0.0.1', `cluster-port ${bus}`];
  const redis = await startRedis({ config: [...own, ...config] });
  await redisCli(redis.port, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until(async () => /cluster_state:ok/.test(await redisCli(redis.port, 'CLUSTER', 'INFO')));
  return redis;
}
