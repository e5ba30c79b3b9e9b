import type { Upload } from '../../../src/types';
import type { Position } from '../../../src/recovery/position';
import type { RecoveryDevice, RecoveryShared } from '../../../src/recovery/options';
import { HistoryFacts, type HistoryForm } from '../../../src/history/form';
import { Recovery } from '../../../src/recovery/recovery';
import { settled } from '../../../tooling/until';
import { sharedBy, type AnswerHistory } from './shared';

/** What is known of histories that have shown their form. */
export function factsOf(form: HistoryForm): HistoryFacts {
  const facts = new HistoryFacts();
  facts.restore(form, undefined);
  return facts;
}

/** One emission, as a test reads it: `live`, or the id it was recovered with. */
export type Given = [body: string, id: unknown];

/**
 * The recovery of one device whose channel and history a test drives: the history answers at once with
 * `history`, and channel and history are in step.
 */
export function createSubject(
  device: Partial<RecoveryDevice> = {},
  { answer, ...shared }: Partial<RecoveryShared> & { answer?: AnswerHistory } = {},
) {
  const given: Given[] = [];
  const uploads: Upload[] = [];
  const faults: { text: string; kind: string }[] = [];
  let history: unknown[] = [];
  let readings = 0;
  let saved: (() => Position) | undefined;
  const recovery = new Recovery(
    {
      ...sharedBy((chipid, signal) => {
        readings++;
        return answer?.(chipid, signal) ?? Promise.resolve(structuredClone(history));
      }),
      ...shared,
    },
    {
      ...{ chipid: '1', zone: 0, start: undefined, saves: true },
      flush: (passed) => passed(),
      listener: {
        onUpload(upload) {
          uploads.push(upload);
          const { body, replayed, id } = upload;
          given.push([body.toString(), replayed ? id : 'live']);
        },
        onFault: (text, kind = text) => faults.push({ text, kind }),
        onState: () => undefined,
        onGap: () => undefined,
      },
      save: (position) => (saved = position),
      ...device,
    },
  );

  return {
    recovery,
    given,
    uploads,
    faults,
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
    live(body: string | Buffer, timestamp = 0): void {
      recovery.onUpload({ chipid: '1', appid: '1', timestamp, body: Buffer.from(body) });
    },
  };
}

/** A record of section 2.3. */
export const record = (
  id: unknown,
  body: unknown,
  create_time: unknown = '2026-01-01 00:00:00',
): object => ({ id, body, create_time, dev: '1', app: 'a' });
