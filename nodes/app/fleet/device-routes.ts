import type { NodeAPI } from 'node-red';
import { DeviceCloudError, type DeviceCloudClient } from '../../../src/index';
import { invalidInput, oneLine, parseChipid, parseFormat } from '../../../src/input';
import type { Handler } from '../../common/admin/admin-routes';
import { isObject } from '../../common/values';
import { toProblem } from '../../common/admin/problem';
import { findApp } from '../../common/app';
import { findAppNode } from '../app-node';
import { mayWriteFlows } from '../../common/admin/flow-rights';
import { addressHider } from '../deployed/hidden-addresses';

/** Characters of a push. */
const LONGEST_MESSAGE = 65_536;

/** How much of a status is shown that the service's document does not show. */
const LONGEST_STATUS = 40;

/** Reads a request and makes the call, which gives what the editor says of its answer. @throws DeviceCloudError `INVALID_INPUT` before anything is sent */
type Action = (
  body: Record<string, unknown>,
  chipid: string,
) => (client: DeviceCloudClient) => Promise<object>;

const refresh: Action = (_body, chipid) => async (client) => {
  const status: unknown = (await client.refresh(chipid)).body.status;
  return { status: typeof status === 'string' ? oneLine(status, LONGEST_STATUS) : null };
};

const push: Action = ({ message, format = 'MSG' }, chipid) => {
  if (typeof message !== 'string' || message.length > LONGEST_MESSAGE) {
    throw invalidInput(`The message has to be text of at most ${LONGEST_MESSAGE} characters.`);
  }
  const checked = parseFormat(format);
  // What the device has answered is no answer of this route: it may hold anything.
  return (client) => client.push(chipid, message, { format: checked }).then(() => ({}));
};

const statusOf = (error: unknown): number => {
  if (!(error instanceof DeviceCloudError)) return 500;
  return error.code === 'INVALID_INPUT' ? 400 : 502;
};

const deviceRoute =
  (name: string, action: Action) =>
  (RED: NodeAPI): Handler =>
  (request, response) => {
    const id = String(request.params['id']);
    const node = findAppNode(RED, id);
    // Without the body: a message may hold anything.
    const audit = (more: object): void => {
      const entry = { level: RED.log.AUDIT, event: `device-cloud.devices.${name}`, ...more };
      RED.log.audit(entry, request);
    };
    if (!node) {
      audit({ error: 'not_found' });
      response.status(404).json({ error: toProblem(findApp(RED, id).problem('open')) });
      return;
    }
    let call: ReturnType<Action>;
    try {
      // Another site's page cannot send JSON without being asked for its origin.
      const body: unknown = request.is('json') ? request.body : undefined;
      if (!isObject(body)) {
        throw invalidInput('Send a JSON object, with the header Content-Type: application/json.');
      }
      const chipid = parseChipid(request.params['chipid']);
      call = action(body, chipid);
      audit({ id, chipid });
    } catch (error) {
      audit({ id, error: 'invalid_input' });
      response.status(statusOf(error)).json({ error: toProblem(error) });
      return;
    }
    node
      .borrow('open', call)
      .then(
        (said) => response.json({ ok: true, ...said }),
        async (error: unknown) => {
          const problem = toProblem(error);
          const hide = await addressHider(RED, id, () => mayWriteFlows(RED, request));
          const shown = { ...problem, message: hide(problem.message) };
          response.status(statusOf(error)).json({ error: shown });
        },
      )
      .catch((error: unknown) => response.status(500).json({ error: toProblem(error) }));
  };

/** The editor's commands to a device. */
export const refreshRoute = deviceRoute('refresh', refresh);
export const pushRoute = deviceRoute('push', push);
