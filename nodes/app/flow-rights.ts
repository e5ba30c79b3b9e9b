import type { NodeAPI } from 'node-red';

/** Handlers of the admin routes, as the types of Node-RED have them. */
type Guard = ReturnType<NodeAPI['auth']['needsPermission']>;
type AdminRequest = Parameters<Guard>[0];
type AdminResponse = Parameters<Guard>[1];

/**
 * Asks Node-RED whether the user behind a request may change flows, and so could read any environment
 * variable by deploying a flow. Without `adminAuth` everybody may. Node-RED offers no other way to ask
 * than the guard it puts before a route: the guard gets a response of its own here, so that a refusal
 * is an answer to us and not to the browser. Node-RED notes a refusal in the audit log.
 */
export function mayWriteFlows(RED: NodeAPI, request: AdminRequest): Promise<boolean> {
  return new Promise((resolve) => {
    // What Node-RED and passport use of a response to refuse a request.
    const refusal = {
      statusCode: 200,
      setHeader: () => refusal,
      status: () => refusal,
      end: () => resolve(false),
    };
    RED.auth.needsPermission('flows.write')(
      request,
      refusal as unknown as AdminResponse,
      (error?: unknown) => resolve(error === undefined),
    );
  });
}
