import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import {
  fileNameOf,
  type DeviceCloudClient,
  type DeviceCloudError,
  type RecordingState,
  type RunningRecording,
} from '../../src/for-nodes';
import { invalidInput, notConfigured } from '../../src/input';
import type { App } from '../common/app';
import type { EndedRecording, RecordingAnswer, RecordingFile } from './answers.config';

/** The folder in Node-RED's user directory. */
const FOLDER = join('device-cloud', 'recordings');
/** Recordings that are listed, the newest. */
const MOST = 100;

/** What is to be recorded. */
export interface Wanted {
  duration?: number;
  chipids?: string[];
  anonymous: boolean;
}

const noUserDirectory = (): DeviceCloudError =>
  notConfigured(
    'Nothing can be recorded: this Node-RED has no user directory. Set userDir in its settings.',
  );

/** The recordings of an application: the running one, and the files. */
export class Recordings {
  #running: { name: string; recording: RunningRecording } | undefined;
  #isStarting = false;
  #last: EndedRecording | null = null;
  readonly #RED: NodeAPI;
  readonly #node: Node & Pick<App, 'problem' | 'borrow'>;

  constructor(RED: NodeAPI, node: Node & Pick<App, 'problem' | 'borrow'>) {
    this.#RED = RED;
    this.#node = node;
  }

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
      await this.#record(folder, `${fileNameOf(this.#node.id)}-${stamp}.jsonl`, wanted);
    } finally {
      this.#isStarting = false;
    }
  }

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
    const { userDir } = this.#RED.settings;
    return userDir ? join(userDir, FOLDER) : undefined;
  }

  #isName(name: string): boolean {
    const prefix = `${fileNameOf(this.#node.id)}-`;
    return name.startsWith(prefix) && /^\d{8}-\d{6}-\d{3}\.jsonl$/.test(name.slice(prefix.length));
  }

  /** Resolves once it has begun. */
  #record(folder: string, name: string, wanted: Wanted): Promise<void> {
    const api = this.#node.problem('open') ? 'server' : 'open';
    return new Promise((resolve, reject) => {
      const record = async (client: DeviceCloudClient): Promise<void> => {
        let onEnd!: (state: RecordingState) => void;
        const ended = new Promise<RecordingState>((end) => (onEnd = end));
        const recording = await client.record(join(folder, name), { ...wanted, onEnd });
        if (!recording.state.ended) this.#running = { name, recording };
        resolve();
        this.#ended(name, await ended);
      };
      this.#node.borrow(api, record).catch(reject);
    });
  }

  #ended(
    name: string,
    { ended = 'stopped', uploads, dropped, bytes, problem }: RecordingState,
  ): void {
    this.#running = undefined;
    const why = problem !== undefined && { problem };
    this.#last = { name, reason: ended, uploads, dropped, ...why };
    const lost = dropped > 0 ? ` ${dropped} lines were left out, since the disk was too slow.` : '';
    const text = `The recording ${name} has ended (${ended}): ${uploads} uploads, ${bytes} bytes.${lost}`;
    if (problem !== undefined) this.#node.warn(`${text} ${problem}`);
    else this.#node.log(text);
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
