import assert from 'node:assert/strict';
import { IsolatedListener } from '../../../src/channel/listener';
import { Budgets } from '../../../src/recovery/options';
import { HistoryFacts, type HistoryForm } from '../../../src/history/form';
import type { Position } from '../../../src/recovery/position';
import type { RecoveryDevice, RecoveryShared } from '../../../src/recovery/options';
import { Recovery } from '../../../src/recovery/recovery';
import { LIMITS } from '../../../src/recovery/options';
import { sharedBy, type AnswerHistory } from './shared';
import type { History, HistoryOptions } from './history';

export interface RunOptions {
  /** The form that the listener takes the history to be in when it starts, default the right one. */
  known?: HistoryForm | 'none';
  limits?: Partial<typeof LIMITS>;
  /** The listener throws at each upload. */
  throws?: boolean;
}

/** A position that was written, and how much had been emitted by then. */
interface Written {
  position: Position;
  /** Makes it later. */
  later: () => Position;
  emitted: number;
}

/** The runs of a listening process, one after the other, and what they leave behind. */
export function createRuns(
  options: RunOptions & Pick<HistoryOptions, 'encoding'>,
  history: History,
  { read, flush }: { read: AnswerHistory } & Pick<RecoveryDevice, 'flush'>,
) {
  const budgets = new Budgets();
  const { known = options.encoding ?? 'text' } = options;
  /** What was emitted; of a run that was killed, only what it had written down. */
  const emitted: string[] = [];
  /** The places of those that were emitted live. */
  const live = new Set<number>();
  /** What was recovered and not marked as altered. */
  const whole = new Set<string>();
  /** What was done after a close. An error thrown there would be taken for the user's. */
  const strays: string[] = [];
  let written: Written[] = [];
  /** The position, made only now: whatever has happened since, it must be the same. */
  const startOf = (last: Written | undefined): Position | undefined => {
    if (last) assert.deepEqual(JSON.parse(JSON.stringify(last.later())), last.position);
    return last?.position;
  };
  let recovery: Recovery;
  let present = { closed: false };
  /** The process is killed after `left` emissions; its last writes are lost. */
  let doom: { left: number; lost: number } | undefined;
  /** Kinds of the faults that were said. */
  const faults = new Set<string>();
  /** Uploads come after later ones, as they may once the history was out of reach for a minute. */
  let late = false;

  const close = (): void => {
    present.closed = true;
    recovery.close();
  };

  const listen = (): Recovery => {
    const self = { closed: false };
    present = self;
    const alive = (what: string): void => {
      if (self.closed) strays.push(what);
    };
    const facts = new HistoryFacts();
    if (known !== 'none') facts.restore(known, undefined);
    const shared: RecoveryShared = {
      ...sharedBy((chipid, signal) => {
        alive('the history is read');
        return read(chipid, signal);
      }),
      limits: { ...LIMITS, ...options.limits },
      budgets: budgets,
      facts,
    };
    return new Recovery(shared, {
      ...{ chipid: '1', zone: 0 },
      start: startOf(written.at(-1)),
      saves: true,
      flush,
      listener: new IsolatedListener({
        onUpload({ body, replayed, altered, timestamp }) {
          alive('an upload is emitted');
          if (replayed && !altered) whole.add(history.textOf(body));
          emitted.push(bodyOf(body, replayed));
          if (!replayed) live.add(timestamp);
          // In the middle of a batch, perhaps.
          if (doom && --doom.left === 0) close();
          if (options.throws) throw new Error('thrown by the listener');
        },
        onFault(text, kind = text) {
          late ||= text.includes('come late');
          faults.add(kind);
        },
      }),
      save(position) {
        alive('a position is saved');
        const copy = JSON.parse(JSON.stringify(position())) as Position;
        written.push({ position: copy, later: position, emitted: emitted.length });
      },
    });
  };

  /** A recovered body may be read in the wrong encoding, until an upload has come both ways. */
  const isGuess: boolean = known !== (options.encoding ?? 'text');
  const bodyOf = (body: Buffer, replayed: boolean | undefined): string =>
    (replayed && isGuess && history.misreadOf(body)) || history.textOf(body);

  recovery = listen();
  return {
    emitted,
    live,
    whole,
    faults,
    close,
    get recovery() {
      return recovery;
    },
    get closed() {
      return present.closed;
    },
    get late() {
      return late;
    },
    position: () => written.at(-1)?.position,
    /** Kills the present run after a number of emissions, or never. */
    kill(after: number, lost: number): void {
      doom = { left: after, lost };
    },
    /** Starts the next run with what was written, except for the last `lost` writes. */
    restart(lost = doom?.lost ?? 0): void {
      close();
      doom = undefined;
      written = written.slice(0, Math.max(1, written.length - lost));
      // What came after the last write comes again.
      emitted.length = written.at(-1)?.emitted ?? 0;
      recovery = listen();
    },
    /** Fails if something stays on the budgets that all devices share. */
    checkAccounts(): void {
      const { held, answers, arrived } = budgets;
      assert.deepEqual([held.used, answers.used, arrived.used], [0, 0, 0], 'on account');
    },
    /** Fails if a run did something after its end. */
    checkStrays: () => assert.deepEqual(strays, [], 'after the close'),
    /** Fails if something was emitted and not written down: it would come again for no need. */
    checkWritten(): void {
      const saved = written.at(-1);
      if (saved) assert.equal(saved.emitted, emitted.length, 'an emission is not written down');
    },
  };
}
