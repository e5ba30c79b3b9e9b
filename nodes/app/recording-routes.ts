import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { NodeAPI } from 'node-red';
import { isDeviceCloudError, testFromRecording } from '../../src/for-nodes';
import { invalidInput, parseChipids } from '../../src/input';
import { auditedRoute, bodyOf, mayReadFlows, readingRoute } from '../common/admin';
import type { Handler } from '../common/register';
import { appNodeOf, findAppNode } from './deployed';
import type { Wanted } from './recordings';

const MAX_MINUTES = 24 * 60;
const MAX_DEVICES = 10_000;

/** Reads `{action, minutes, chipids, anonymous}`. @returns undefined: stop @throws DeviceCloudError `INVALID_INPUT` */
function readWanted(body: unknown): Wanted | undefined {
  const { action, minutes = null, chipids = null, anonymous = false } = bodyOf(body);
  if (action === 'stop') return undefined;
  if (action !== 'start') throw invalidInput('The action has to be "start" or "stop".');
  const isMinutes =
    minutes === null || (typeof minutes === 'number' && minutes > 0 && minutes <= MAX_MINUTES);
  if (!isMinutes) throw invalidInput('The minutes have to be a number up to 1440, or null.');
  if (typeof anonymous !== 'boolean') throw invalidInput('anonymous has to be true or false.');
  if (Array.isArray(chipids) && (chipids.length === 0 || chipids.length > MAX_DEVICES))
    throw invalidInput('Choose 1 to 10,000 devices, or leave chipids out for all.');
  return {
    anonymous,
    ...(minutes === null ? {} : { duration: Math.max(1, minutes * 60_000) }),
    ...(chipids === null ? {} : { chipids: parseChipids(chipids) }),
  };
}

const refusal = (error: unknown): number =>
  isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED') ? 409 : 500;

/** Begins and ends a recording. */
export const recordRoute = (RED: NodeAPI): Handler =>
  auditedRoute(RED, {
    event: 'apps.recording',
    read: (body, { id = '' }) => ({ id, node: appNodeOf(RED, id), wanted: readWanted(body) }),
    audited: ({ id, wanted }) => ({ id, action: wanted ? 'start' : 'stop', ...wanted }),
    async answer({ node: { recordings }, wanted }) {
      await (wanted ? recordings.start(wanted) : recordings.stop());
      return { ok: true, running: (await recordings.read()).running };
    },
    failure: (error) => [refusal(error)],
  });

/** Says what is recorded, and lists the files. */
export const recordingsRoute = (RED: NodeAPI): Handler =>
  readingRoute(async ({ params }, response) => {
    response.json(await appNodeOf(RED, params['id']).recordings.read());
  });

/** Gives a recording as a file; with `?as=test` a test to start from. */
export const downloadRoute = (RED: NodeAPI): Handler =>
  readingRoute(
    async (request, response) => {
      const { id = '', name = '' } = request.params as Record<string, string>;
      const refuse = (status: number, message: string): void => {
        response.status(status).json({ error: { message } });
      };
      if (!(await mayReadFlows(RED, request))) {
        refuse(403, 'Only users who may read flows may read recordings.');
        return;
      }
      const found = await findAppNode(RED, id)?.recordings.find(name);
      if (!found) {
        refuse(404, 'There is no such recording of this application.');
        return;
      }
      if (request.query['as'] === 'test') {
        const test = await testFromRecording(found.path);
        response.attachment(`${name}.yaml`).type('text/yaml').send(test);
        return;
      }
      // Of a running one: the bytes that are written by now.
      const { path, size } = found;
      response.attachment(name).type('application/x-ndjson').set('Content-Length', String(size));
      if (size === 0) response.end();
      else await pipeline(createReadStream(path, { end: size - 1 }), response);
    },
    () => 500,
  );
