import type { Upload } from '../../../src/types';
import { HistoryFacts } from '../../../src/recovery/facts';
import type { ChannelListener } from '../../../src/channel/listener';
import type { OpenSubscription } from '../../../src/channel/pool';
import type { RecoverOptions, RecoveryShared } from '../../../src/recovery/options';
import type { Position } from '../../../src/recovery/position';
import { Recovery } from '../../../src/recovery/recovery';
import type { KnownWriting } from '../../../src/recovery/writing';
import { settled } from '../../tooling/until';
import { sharedBy, type AnswerHistory } from './shared';

/** What is known of histories that have shown their writing. */
export function factsOf(writing: KnownWriting): HistoryFacts {
  const facts = new HistoryFacts();
  facts.restore({ writing });
  return facts;
}

/** One emission, as a test reads it: `live`, or the id it was recovered with. */
export type Given = [body: string, id: unknown];

/**
 * The recovery of one device whose channel and history a test drives: the history answers at once with
 * `history`, and channel and history are in step. The history's times are of UTC unless `zone` says otherwise.
 */
export function createSubject(
  { listener, ...options }: RecoverOptions & { listener?: ChannelListener } = {},
  { answer, ...shared }: Partial<RecoveryShared> & { answer?: AnswerHistory } = {},
) {
  const given: Given[] = [];
  const uploads: Upload[] = [];
  const faults: { text: string; kind: string }[] = [];
  let history: unknown[] = [];
  let readings = 0;
  let saved: (() => Position) | undefined;
  const all: RecoveryShared = {
    ...sharedBy((chipid, signal) => {
      readings++;
      return answer?.(chipid, signal) ?? Promise.resolve(structuredClone(history));
    }),
    ...shared,
  };
  const usual: ChannelListener = {
    onUpload(upload) {
      uploads.push(upload);
      const { body, replayed, id } = upload;
      given.push([body.toString(), replayed ? id : 'live']);
    },
    onFault: (text, kind = text) => void faults.push({ text, kind }),
  };
  const channel = { state: 'connecting', flush: (passed: () => void) => passed() };
  const subscription = { channel, release: () => undefined } as unknown as OpenSubscription;
  const recovery = new Recovery(
    { shared: all, channels: { join: () => subscription }, histories: new Map() },
    '1',
    listener ?? usual,
    { zone: 'Z', saveLater: (position) => (saved = position), ...options },
  );

  return {
    recovery,
    given,
    uploads,
    faults,
    /** What was given, after the first ones. */
    bodies: (first = 0): string[] => given.slice(first).map(([body]) => body),
    kinds: (): string[] => [...new Set(faults.map(({ kind }) => kind))],
    readings: () => readings,
    /** Made when it is asked for, as by those who save it later. */
    position: () => saved && (JSON.parse(JSON.stringify(saved())) as Position),
    /** What the history answers from now on. */
    has(...records: unknown[]): void {
      history = records;
    },
    /** The channel comes up, for the first time or again; the history is read. */
    async connect(): Promise<void> {
      recovery.onState('connected');
      await settled();
    },
    /** The same, with what the history has by then. */
    async reads(...records: unknown[]): Promise<void> {
      history = records;
      await this.connect();
    },
    live(body: string | Buffer, timestamp = 0): void {
      recovery.onUpload({ chipid: '1', appid: '1', timestamp, body: Buffer.from(body) });
    },
  };
}

/** The same, once its channel is open and its history is read, which has these records. */
export async function connected(
  records: readonly unknown[] = [],
  ...options: Parameters<typeof createSubject>
): Promise<ReturnType<typeof createSubject>> {
  const subject = createSubject(...options);
  await subject.reads(...records);
  return subject;
}

/** A record of section 2.3. */
export const record = (
  id: unknown,
  body: unknown,
  create_time: unknown = '2026-01-01 00:00:00',
): object => ({ id, body, create_time, dev: '1', app: 'a' });

/** Records with ids from 1 on. */
export const records = (...bodies: string[]): object[] =>
  bodies.map((body, index) => record(index + 1, body));
