// What the routes of the editor share.
import type { NodeAPI } from 'node-red';
import { invalidInput, isDeviceCloudError } from '../../src/index';
import { toProblem } from './errors';
import type { Handler } from './register';
import { isObject } from './shared.config';

type AdminRequest = Parameters<Handler>[0];
type AdminResponse = Parameters<Handler>[1];

/**
 * Asks Node-RED whether the user behind a request has a permission. Without `adminAuth` everybody has. Node-RED offers no
 * other way to ask than the guard that it puts before a route: here the guard gets a stand-in for the response, so that a
 * refusal does not reach the browser. Node-RED records a refusal in the audit log.
 */
function isPermitted(RED: NodeAPI, request: AdminRequest, permission: string): Promise<boolean> {
  return new Promise((resolve) => {
    // The methods of a response that Node-RED and passport call to refuse a request.
    const refusal = {
      statusCode: 200,
      setHeader: () => refusal,
      status: () => refusal,
      end: () => resolve(false),
    };
    RED.auth.needsPermission(permission)(
      request,
      refusal as unknown as AdminResponse,
      (error?: unknown) => resolve(error === undefined),
    );
  });
}

/** Whether the user may change flows, and so could read any environment variable by deploying a flow. */
export const mayWriteFlows = (RED: NodeAPI, request: AdminRequest): Promise<boolean> =>
  isPermitted(RED, request, 'flows.write');

/** Whether the user may read flows, and so what flows and devices say. */
export const mayReadFlows = (RED: NodeAPI, request: AdminRequest): Promise<boolean> =>
  isPermitted(RED, request, 'flows.read');

/** Refuses a route to users who may not read flows. */
export const forFlowReaders =
  (RED: NodeAPI, handle: Handler): Handler =>
  (request, response, next) => {
    void mayReadFlows(RED, request).then((may) => {
      const message = 'This is for users who may read flows (permission "flows.read").';
      if (may) handle(request, response, next);
      else response.status(403).json({ error: { code: 'FORBIDDEN', message } });
    });
  };

/** The HTTP status of an error of a route. One of the service is not passed on: a 401 would end the user's log-in. */
export function statusOf(error: unknown): number {
  if (!isDeviceCloudError(error)) return 500;
  if (error.code === 'INVALID_INPUT') return 400;
  return error.code === 'NOT_CONFIGURED' || error.code === 'NO_VALUE' ? 404 : 502;
}

/** Makes the handler of a route that changes nothing. What it throws is its answer. */
export const readingRoute =
  (
    answer: (request: AdminRequest, response: AdminResponse) => unknown,
    failure = statusOf,
  ): Handler =>
  (request, response) => {
    const answered = Promise.resolve().then(() => answer(request, response));
    answered.catch((error: unknown) => {
      // Whoever has left gets no answer.
      if (response.headersSent) response.destroy();
      else response.status(failure(error)).json({ error: toProblem(error) });
    });
  };

const hostOf = (address: string): string | undefined =>
  URL.canParse(address) ? new URL(address).host : undefined;

/**
 * Whether the page of another site may have sent a request: without `adminAuth` nothing else keeps it from doing so, since
 * Node-RED's admin API answers any origin. Browsers say so, but for plain `http` from other machines than their own.
 */
function isForeign(RED: NodeAPI, request: AdminRequest): boolean {
  // A page of another site has no token of the user.
  if (RED.settings['adminAuth']) return false;
  const site = request.get('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = request.get('Origin');
  // Only programs leave it out.
  if (origin === undefined) return false;
  const [scheme = ''] = origin.split('//');
  // A proxy may put its own address for the service in the place of the page's; each of several adds the one that it was asked for.
  const hosts = [request.get('Host'), ...(request.get('X-Forwarded-Host') ?? '').split(',')];
  const own = hostOf(origin);
  return own === undefined || !hosts.some((host) => hostOf(`${scheme}//${host?.trim()}`) === own);
}

/** The body of a request. @param what it has to be @throws DeviceCloudError `INVALID_INPUT` if it is not a JSON object */
export function bodyOf(body: unknown, what = 'a JSON object'): Record<string, unknown> {
  if (isObject(body)) return body;
  throw invalidInput(`Send ${what}, with the header Content-Type: application/json.`);
}

/** A route that reads the body of its request, and is recorded in the audit log. */
interface AuditedRoute<T> {
  /** After `device-cloud.` */
  event: string;
  /** Reads the request. @param body undefined if it is not JSON @throws DeviceCloudError `INVALID_INPUT` or, if it names nothing that is deployed, `NOT_CONFIGURED` */
  read: (
    body: unknown,
    params: Readonly<Record<string, string>>,
    request: AdminRequest,
  ) => T | Promise<T>;
  /** What the log shows. Never the body: a message may hold anything. */
  audited: (read: T) => object;
  /** @param mayWrite whether the user may change flows; called only if the answer matters @returns JSON, or a text of YAML */
  answer: (read: T, mayWrite: () => Promise<boolean>) => Promise<object | string>;
  /** The HTTP status of an error of `answer`, if it is another one than usually. */
  failure?: (error: unknown) => number;
}

/** Makes the handler of such a route. */
export const auditedRoute =
  <T>(
    RED: NodeAPI,
    { event, read, audited, answer, failure = statusOf }: AuditedRoute<T>,
  ): Handler =>
  (request, response) => {
    const audit = (more: object): void => {
      const entry = { level: RED.log.AUDIT, event: `device-cloud.${event}`, ...more };
      RED.log.audit(entry, request);
    };
    const refuse = (status: number, error: unknown): void =>
      void response.status(status).json({ error: toProblem(error) });
    // Asked once, since Node-RED records each refusal.
    let may: Promise<boolean> | undefined;
    const mayWrite = (): Promise<boolean> => (may ??= mayWriteFlows(RED, request));
    const handle = async (): Promise<void> => {
      if (isForeign(RED, request)) {
        audit({ error: 'foreign_page' });
        const why =
          'The request is from a page of another site. Behind a proxy, let it pass on the header Host or send X-Forwarded-Host.';
        response.status(403).json({ error: { code: 'FORBIDDEN', message: why } });
        return;
      }
      let asked: T;
      try {
        // Another site's page cannot send JSON without being asked for its origin.
        const body: unknown = request.is('json') ? request.body : undefined;
        asked = await read(body, request.params as Record<string, string>, request);
      } catch (error) {
        const isUnknown = isDeviceCloudError(error, 'NOT_CONFIGURED');
        const { id } = request.params;
        const said = isUnknown ? 'not_found' : 'invalid_input';
        audit({ ...(id === undefined ? {} : { id }), error: said });
        refuse(isUnknown ? 404 : 400, error);
        return;
      }
      audit(audited(asked));
      try {
        const found = await answer(asked, mayWrite);
        if (typeof found === 'string') response.type('text/yaml').send(found);
        else response.json(found);
      } catch (error) {
        refuse(failure(error), error);
      }
    };
    handle().catch((error: unknown) => refuse(500, error));
  };
