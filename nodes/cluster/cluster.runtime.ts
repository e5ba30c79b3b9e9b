import type { NodeAPI } from 'node-red';
import type { Runtime } from '../common/action';
import type { ClusterConfig } from './cluster.config';
import { engineOf, type ClusterNode } from './cluster-node';
import { Memberships } from './memberships';

/** What Node-RED says when flows have started, or are about to stop. */
interface FlowsEvent {
  /** The flows that are deployed now: others than those that have started, if a deploy stops them. */
  config?: object;
}

/** Finds out whether flows stop for a deploy, which keeps the membership, or permanently. */
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
export const runtime: Runtime<ClusterConfig, ClusterNode> = (RED) => {
  // They outlive the nodes: a deploy makes new ones.
  const memberships = new Memberships();
  return (node, def) => {
    const { url, sentinels, master, tls } = def;
    node.endpoint = { url, sentinels, master, tls };
    node.isStopping = false;
    node.share = (application, warn) => {
      const engine = engineOf(RED, node, { ...def, credentials: node.credentials });
      return memberships.use(node.id, { ...engine, application }, () => node.isStopping, warn);
    };
    watchStop(RED, node);
  };
};
