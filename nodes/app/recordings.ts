import { createReadStream } from 'node:fs';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { NodeAPI } from 'node-red';
import { DeviceCloudError, isDeviceCloudError } from '../../src/index';
import { fileNameOf, type RecordingState, type RunningRecording } from '../../src/for-nodes';
import { invalidInput, parseChipids } from '../../src/input';
import { auditedRoute, mayReadFlows } from '../common/admin';
import { findApp } from '../common/app';
import { messageOf, toProblem } from '../common/errors';
import type { Handler } from '../common/register';
import { isObject } from '../common/shared.config';
import type { EndedRecording, RecordingAnswer, RecordingFile } from './answers.config';
import { findAppNode, type AppNode } from './deployed';

/** The folder in Node-RED's user directory. */
const FOLDER = join('device-cloud', 'recordings');
/** Recordings that are listed, the newest. */
const MOST = 100;
const MAX_MINUTES = 24 * 60;
const MAX_DEVICES = 10_000;

/** What is to be recorded. */
interface Wanted {
  duration?: number;
  chipids?: string[];
  anonymous: boolean;
}

const noUserDirectory = (): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    'Nothing can be recorded: this Node-RED has no user directory. Set userDir in its settings.',
  );

/** The recordings of an application: the one that runs, and the files of those that have ended. */
export class Recordings {
  #running: { name: string; recording: RunningRecording } | undefined;
  #isStarting = false;
  #last: EndedRecording | null = null;

  constructor(
    private readonly RED: NodeAPI,
    private readonly node: AppNode,
  ) {}

  /** Begins one. It keeps the client until it ends. @throws DeviceCloudError */
  async start(wanted: Wanted): Promise<void> {
    if (this.#isStarting || this.#running)
      throw invalidInput('The application is being recorded already. Stop that recording first.');
    const folder = this.#folder;
    if (folder === undefined) throw noUserDirectory();
    this.#isStarting = true;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const stamp = new Date().toISOString().replace(/[-:Z]/g, '').replace(/[T.]/g, '-');
      await this.#record(folder, `${fileNameOf(this.node.id)}-${stamp}.jsonl`, wanted);
    } finally {
      this.#isStarting = false;
    }
  }

  /** Ends the one that runs, if there is one. */
  async stop(): Promise<void> {
    await this.#running?.recording.stop();
  }

  async read(): Promise<RecordingAnswer> {
    const problem = this.#folder === undefined ? { problem: noUserDirectory().message } : {};
    const recordings = await this.#files();
    if (!this.#running) return { running: null, last: this.#last, recordings, ...problem };
    const { name, recording } = this.#running;
    const { since, until, bytes, uploads, dropped } = recording.state;
    const running = { name, since, until, bytes, uploads, dropped };
    return { running, last: this.#last, recordings, ...problem };
  }

  /** The path and the size of a recording of this application; undefined if there is none of that name. */
  async find(name: string): Promise<{ path: string; size: number } | undefined> {
    const folder = this.#folder;
    if (folder === undefined || !this.#isName(name)) return undefined;
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    return found?.isFile() ? { path, size: found.size } : undefined;
  }

  get #folder(): string | undefined {
    const { userDir } = this.RED.settings;
    return userDir ? join(userDir, FOLDER) : undefined;
  }

  #isName(name: string): boolean {
    const prefix = `${fileNameOf(this.node.id)}-`;
    return name.startsWith(prefix) && /^\d{8}-\d{6}-\d{3}\.jsonl$/.test(name.slice(prefix.length));
  }

  /** Resolves once it has begun. */
  #record(folder: string, name: string, wanted: Wanted): Promise<void> {
    return new Promise((resolve, reject) => {
      const api = this.node.problem('open') ? 'server' : 'open';
      this.node
        .borrow(
          api,
          (client) =>
            new Promise<void>((ended, failed) => {
              const onEnd = (state: RecordingState): void => {
                this.#ended(name, state);
                ended();
              };
              client.record(join(folder, name), { ...wanted, onEnd }).then((recording) => {
                if (!recording.state.ended) this.#running = { name, recording };
                resolve();
              }, failed);
            }),
        )
        .catch(reject);
    });
  }

  #ended(
    name: string,
    { ended = 'stopped', uploads, dropped, bytes, problem }: RecordingState,
  ): void {
    this.#running = undefined;
    this.#last = {
      name,
      reason: ended,
      uploads,
      dropped,
      ...(problem !== undefined && { problem }),
    };
    const lost = dropped > 0 ? ` ${dropped} lines were left out, since the disk was too slow.` : '';
    const text = `The recording ${name} has ended (${ended}): ${uploads} uploads, ${bytes} bytes.${lost}`;
    if (problem !== undefined) this.node.warn(`${text} ${problem}`);
    else this.node.log(text);
  }

  async #files(): Promise<RecordingFile[]> {
    const folder = this.#folder;
    if (folder === undefined) return [];
    const names = (await readdir(folder).catch(() => [])).filter((name) => this.#isName(name));
    const newest = names.sort().reverse().slice(0, MOST);
    const files = newest.map(async (name) => {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      return found?.isFile() ? { name, bytes: found.size, at: found.mtimeMs } : undefined;
    });
    return (await Promise.all(files)).filter((file) => file !== undefined);
  }
}

/** Reads `{action, minutes, chipids, anonymous}`. @returns undefined: stop @throws DeviceCloudError `INVALID_INPUT` */
function readWanted(body: unknown): Wanted | undefined {
  if (!isObject(body))
    throw invalidInput('Send a JSON object, with the header Content-Type: application/json.');
  const { action, minutes = null, chipids = null, anonymous = false } = body;
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

function appNode(RED: NodeAPI, id: string): AppNode {
  const node = findAppNode(RED, id);
  if (node) return node;
  throw findApp(RED, id).problem('open') ?? new Error(`The application ${id} is missing.`);
}

const refusal = (error: unknown): number =>
  isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED') ? 409 : 500;

/** Begins and ends a recording. */
export const recordRoute = (RED: NodeAPI): Handler =>
  auditedRoute(RED, {
    event: 'apps.recording',
    read: (body, { id = '' }) => ({ id, node: appNode(RED, id), wanted: readWanted(body) }),
    audited: ({ id, wanted }) => ({ id, action: wanted ? 'start' : 'stop', ...wanted }),
    async answer({ node: { recordings }, wanted }) {
      await (wanted ? recordings.start(wanted) : recordings.stop());
      return { ok: true, running: (await recordings.read()).running };
    },
    failure: (error) => Promise.resolve([refusal(error)]),
  });

/** Says what is recorded, and lists the files. */
export const recordingsRoute =
  (RED: NodeAPI): Handler =>
  (request, response) => {
    const node = findAppNode(RED, String(request.params['id']));
    if (!node) {
      response.status(404).json({ error: toProblem(findApp(RED, '').problem('open')) });
      return;
    }
    node.recordings.read().then(
      (answer) => response.json(answer),
      (error: unknown) => response.status(500).json({ error: toProblem(error) }),
    );
  };

/** Makes a test of a flow, as YAML, of a recording. */
type ToTest = (path: string) => Promise<string>;

/** Gives a recording as a file; with `?as=test` a test to start from. */
export const downloadRoute =
  (RED: NodeAPI, toTest?: ToTest): Handler =>
  (request, response) => {
    const { id = '', name = '' } = request.params as Record<string, string>;
    const refuse = (status: number, message: string): void => {
      response.status(status).json({ error: { message } });
    };
    const send = async (): Promise<void> => {
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
        if (!toTest) refuse(501, 'This version makes no tests of recordings.');
        else
          response
            .attachment(`${name}.yaml`)
            .type('text/yaml')
            .send(await toTest(found.path));
        return;
      }
      // Of one that runs: what is written by now.
      const { path, size } = found;
      response.attachment(name).type('application/x-ndjson').set('Content-Length', String(size));
      if (size === 0) response.end();
      else await pipeline(createReadStream(path, { end: size - 1 }), response);
    };
    send().catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(500, messageOf(error));
    });
  };
