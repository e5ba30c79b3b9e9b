import { PUBLIC_DIALECT } from '../../tooling/dialect';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { needsCluster, onDialect, worksAsImported } from './examples/as-imported';
import { examples } from './examples/files';
import { useStage } from './examples/stage';

describe('an example with a cluster in a real Node-RED', () => {
  const stage = useStage();
  let redis: RedisProcess;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.end());

  /** At the port of this server, since what is at 6379 may be anybody's. */
  const atPort = (node: FlowNode): FlowNode =>
    node.type === 'device-cloud-cluster'
      ? { ...node, url: `redis://127.0.0.1:${redis.port}` }
      : node;

  for (const { name, nodes } of examples.filter((each) => needsCluster(each.nodes))) {
    for (const dialect of ['document', PUBLIC_DIALECT] as const) {
      it(`${name}: works as imported, every button and every debug node${onDialect(dialect)}`, () =>
        worksAsImported(stage, name, nodes.map(atPort), dialect));
    }
  }
});
