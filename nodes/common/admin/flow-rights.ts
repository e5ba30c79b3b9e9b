import type { NodeAPI } from 'node-red';

/** Handlers of the admin routes, as the types of Node-RED have them. */
type Guard = ReturnType<NodeAPI['auth']['needsPermission']>;
type AdminRequest = Parameters<Guard>[0];
type AdminResponse = Parameters<Guard>[1];

/**
 * Asks Node-RED whether the user behind a request may change flows, and so could read any environment
 * variable by deploying a flow. Without `adminAuth` everybody may. Node-RED offers no other way to ask
 * than the guard that it puts before a route: here the guard gets a stand-in for the response, so that a
 * refusal does not reach the browser. Node-RED records a refusal in the audit log.
 */
export function mayWriteFlows(RED: NodeAPI, request: AdminRequest): Promise<boolean> {
  return new Promise((resolve) => {
    // The methods of a response that Node-RED and passport call to refuse a request.
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
