import type { Node, NodeAPI } from 'node-red';
import { isVariable } from '../../common/values';
import { findDeployed } from './deployed';

/** An address in use, and what was saved for it, such as `${NAME}`. */
interface Hidden {
  used: string;
  saved: string;
}

/** The address of a proxy configuration as it was saved. */
function savedProxy(RED: NodeAPI, id: string): string {
  let url: unknown;
  RED.nodes.eachNode((node) => {
    if (node.id === id) url = (node as { url?: unknown }).url;
  });
  return typeof url === 'string' ? url : '';
}

/** The addresses of the service and of the proxy. */
function usedAddresses(RED: NodeAPI, id: string | undefined): Hidden[] {
  const deployed = findDeployed(RED, id);
  if (!deployed?.node) return [];
  const { baseUrl = '', proxy = '' } = deployed.node.endpoint;
  const running = RED.nodes.getNode(proxy) as (Node & { url?: unknown }) | null;
  const address = typeof running?.url === 'string' ? running.url : '';
  return [
    { used: baseUrl, saved: deployed.saved.baseUrl ?? '' },
    { used: address, saved: savedProxy(RED, proxy) },
  ];
}

/** The forms in which errors name an address; a proxy's may lack its scheme. */
function namesOf(address: string): string[] {
  const text = /^[a-z0-9+.-]+:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(text)) return [];
  const { origin, host, hostname } = new URL(text);
  return [origin, host, hostname].filter((name) => name !== '');
}

function replacer(hidden: readonly Hidden[]): (message: string) => string {
  const parts = hidden.flatMap(({ used, saved }) =>
    namesOf(used).map((name) => [name, saved] as const),
  );
  return (message) =>
    parts.reduce((text, [name, saved]) => text.replaceAll(name, () => saved), message);
}

/**
 * Makes a function that replaces an address by the `${NAME}` that was saved for it, unless the user may
 * read variables.
 * @param maySeeVariables called only if the answer matters
 */
export async function addressHider(
  RED: NodeAPI,
  id: string | undefined,
  maySeeVariables: () => Promise<boolean>,
): Promise<(message: string) => string> {
  const hidden = usedAddresses(RED, id).filter(({ saved }) => isVariable(saved));
  if (hidden.length === 0 || (await maySeeVariables())) return (message) => message;
  return replacer(hidden);
}

/** Makes a function that removes every address from a message that will be published. */
export const withoutAddresses = (
  RED: NodeAPI,
  id: string | undefined,
): ((message: string) => string) =>
  replacer(
    usedAddresses(RED, id).map(({ used, saved }) => ({
      used,
      saved: isVariable(saved) ? saved : '<address>',
    })),
  );
