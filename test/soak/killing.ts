import { setTimeout as sleep } from 'node:timers/promises';
import { Arrival } from '../../src/recovery/compare';
import type { Position } from '../../src/recovery/position';
import type { Child } from '../tooling/process';
import type { Dice } from './dice';
import { readRecords, type Accepted } from './lines';
import { savedPositions, startNodeRed } from './node-red';
import type { Files } from './nodes';

/** Node-RED as it is killed and started again. */
export interface Killing {
  /** The Node-RED of now. */
  readonly red: Child;
  /** What all of them have logged. */
  readonly log: string;
  kills: number;
  /** Messages that had been emitted after the last write of their position, of all kills together. */
  unwritten: number;
  /** Kills Node-RED and starts it again, at random moments, until then. */
  until(end: number): Promise<void>;
}

const LIFE = { shortest: 3000, longest: 20_000 };
const PAUSE = { shortest: 0, longest: 3000 };

type Counts = Map<string, number>;

/** How many uploads of each device a position stands for, of those that must be emitted. */
function covered(positions: Record<string, Position>, accepted: readonly Accepted[]): Counts {
  const counts: Counts = new Map();
  for (const [chipid, { id, keys = '' }] of Object.entries(positions)) {
    const upTo = accepted.filter((upload) => upload.chipid === chipid && upload.id <= Number(id));
    counts.set(chipid, upTo.length + Arrival.readAll(keys).length);
  }
  return counts;
}

function emittedCounts(recordFile: string): Counts {
  const counts: Counts = new Map();
  for (const { chipid } of readRecords(recordFile).emitted) {
    counts.set(chipid, (counts.get(chipid) ?? 0) + 1);
  }
  return counts;
}

const difference = (now: Counts, before: Counts, chipid: string): number =>
  (now.get(chipid) ?? 0) - (before.get(chipid) ?? 0);

export function createKilling(
  first: Child,
  files: Files,
  accepted: readonly Accepted[],
  dice: Dice,
): Killing {
  let red = first;
  let log = '';
  let coveredBefore: Counts = covered(savedPositions(files.userDir), accepted);
  let emittedBefore: Counts = emittedCounts(files.records);

  const kill = async (): Promise<void> => {
    await red.end('SIGKILL');
    log += red.log();
    killing.kills++;
    const coveredNow = covered(savedPositions(files.userDir), accepted);
    const emittedNow = emittedCounts(files.records);
    for (const chipid of emittedNow.keys()) {
      const emitted = difference(emittedNow, emittedBefore, chipid);
      killing.unwritten += Math.max(0, emitted - difference(coveredNow, coveredBefore, chipid));
    }
    coveredBefore = coveredNow;
    emittedBefore = emittedNow;
  };

  const killing: Killing = {
    get red() {
      return red;
    },
    get log() {
      return log + red.log();
    },
    kills: 0,
    unwritten: 0,
    async until(end) {
      for (;;) {
        const life = dice.between(LIFE.shortest, LIFE.longest);
        const left = end - Date.now();
        await Promise.race([sleep(Math.max(0, Math.min(life, left))), red.crashed]);
        if (left < life) return;
        await kill();
        await sleep(dice.between(PAUSE.shortest, PAUSE.longest));
        red = await startNodeRed(files.userDir);
      }
    },
  };
  return killing;
}
