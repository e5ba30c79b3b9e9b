import type { NodeAPI, NodeDef } from 'node-red';
import { addClusterRoute } from './cluster-route';
import { CLUSTER_TYPE, type ClusterConfig, type ClusterCredentials } from './cluster.config';
import type { ClusterNode } from './cluster-node';
import { engineOf } from './cluster-options';
import { Memberships } from './memberships';

/** What Node-RED says when flows have started, or are about to stop. */
interface FlowsEvent {
  /** The flows that are deployed now: others than those that have started, if a deploy stops them. */
  config?: object;
}

/** Finds out whether flows stop for a deploy, which keeps the membership, or for good. */
function watchStop(RED: NodeAPI, node: ClusterNode): void {
  let running: object | undefined;
  const started = ({ config }: FlowsEvent): void => void (running = config);
  const stopping = ({ config }: FlowsEvent): void => {
    node.isStopping = config !== undefined && config === running;
  };
  RED.events.on('flows:started', started);
  RED.events.on('flows:stopping', stopping);
  node.on('close', () => {
    RED.events.off('flows:started', started);
    RED.events.off('flows:stopping', stopping);
  });
}

/** The config node: an engine by which Node-RED processes share the devices of applications. */
export = function (RED: NodeAPI): void {
  // They outlive the nodes: a deploy makes new ones.
  const memberships = new Memberships();
  RED.nodes.registerType<ClusterNode, NodeDef & ClusterConfig, unknown, ClusterCredentials>(
    CLUSTER_TYPE,
    function (this: ClusterNode, def: NodeDef & ClusterConfig) {
      RED.nodes.createNode(this, def);
      const { url, sentinels, master, tls } = def;
      this.endpoint = { url, sentinels, master, tls };
      this.isStopping = false;
      this.share = (application) => {
        const engine = engineOf(RED, this, { ...def, credentials: this.credentials });
        return memberships.use(this.id, { ...engine, application }, () => this.isStopping);
      };
      watchStop(RED, this);
    },
    { credentials: { user: { type: 'text' }, password: { type: 'password' } } },
  );
  addClusterRoute(RED);
};
