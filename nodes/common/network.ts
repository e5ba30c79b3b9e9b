import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError, type ProxySettings, type TlsSettings } from '../../src/index';

/** A core `tls-config` node. */
interface TlsNode extends Node {
  addTLSOptions(options: TlsSettings): TlsSettings;
}

/** A core `http proxy` node. */
interface ProxyNode extends Node<{ username?: string; password?: string }> {
  url: string;
  noproxy?: string[];
}

function nodeOf(
  RED: NodeAPI,
  id: string | undefined,
  type: string,
  what: string,
): Node | undefined {
  if (!id) return undefined;
  const node = RED.nodes.getNode(id) as Node | null;
  if (node?.type === type) return node;
  throw new DeviceCloudError('NOT_CONFIGURED', `The ${what} configuration is missing or disabled.`);
}

/** The TLS settings of a core `tls-config` node. @throws DeviceCloudError `NOT_CONFIGURED` */
export function tlsOf(RED: NodeAPI, id: string | undefined): TlsSettings | undefined {
  const node = nodeOf(RED, id, 'tls-config', 'TLS') as TlsNode | undefined;
  return node?.addTLSOptions({});
}

/** The proxy of a core `http proxy` node. @throws DeviceCloudError `NOT_CONFIGURED` */
export function proxyOf(RED: NodeAPI, id: string | undefined): ProxySettings | undefined {
  const node = nodeOf(RED, id, 'http proxy', 'proxy') as ProxyNode | undefined;
  if (!node) return undefined;
  const { username, password } = (node.credentials as ProxyNode['credentials'] | undefined) ?? {};
  return {
    url: node.url,
    noProxy: node.noproxy ?? [],
    ...(username ? { username, password: password ?? '' } : {}),
  };
}
