import { ANSWER_FAULTS, type AnswerFault } from './answer-faults';
import { EVENT_FAULTS, type EventFault } from './event-faults';
import { integerText, numberIn, OptionError } from '../options/option-readers';
import { UPGRADE_FAULTS, type UpgradeFault } from './upgrade-faults';

/** The name of something that can go wrong. */
export type FaultName =
  | keyof typeof ANSWER_FAULTS
  | keyof typeof UPGRADE_FAULTS
  | keyof typeof EVENT_FAULTS;

/** What a fault applies to. */
export interface FaultOptions {
  /** How many requests, upgrades or events, a whole number; default: all until it is removed. */
  times?: number;
  /** Only those of this device. */
  chipid?: string | number;
  /** Only requests whose path contains this, for example `dev/push`. */
  path?: string;
  /** Whether the request is carried out before the answer goes wrong. Default false. */
  acts?: boolean;
}

interface Standing {
  readonly name: FaultName;
  readonly chipid: string | undefined;
  readonly path: string;
  readonly acts: boolean;
  left: number;
}

/** What a request is about, to match it against a fault's options. */
export interface Aim {
  readonly path: string;
  /** Whether it concerns a device. */
  readonly concerns: (chipid: string) => boolean;
}

/** The active faults. The one that was added first applies first. */
export interface Faults {
  /**
   * @returns a function that removes it
   * @throws RangeError, OptionError
   */
  add(name: FaultName, options: FaultOptions): () => void;
  claimAnswer(aim: Aim): { run: AnswerFault; acts: boolean } | undefined;
  claimUpgrade(aim: Aim): UpgradeFault | undefined;
  claimEvent(chipid: string): EventFault | undefined;
  /** Whether a device's channels send neither events nor pongs. */
  silent(chipid: string): boolean;
  /** Removes all. */
  clear(): void;
}

/** Every request checks all of them. */
const MAX_FAULTS = 1000;

const has = <T extends object>(table: T, name: PropertyKey): name is keyof T =>
  Object.hasOwn(table, name);

export function createFaults(): Faults {
  const standing = new Set<Standing>();

  const claim = <T extends object>(
    table: T,
    aim: Aim,
  ): { run: T[keyof T]; acts: boolean } | undefined => {
    for (const fault of standing) {
      const { name, chipid, path, acts } = fault;
      if (!has(table, name) || !aim.path.includes(path)) continue;
      if (chipid !== undefined && !aim.concerns(chipid)) continue;
      if (--fault.left <= 0) standing.delete(fault);
      return { run: table[name], acts };
    }
    return undefined;
  };

  return {
    add(name, { times = Infinity, chipid, path = '', acts = false }) {
      if (![ANSWER_FAULTS, UPGRADE_FAULTS, EVENT_FAULTS].some((table) => has(table, name))) {
        throw new RangeError(`There is no fault ${name}. There are ${FAULT_NAMES.join(', ')}.`);
      }
      if (standing.size === MAX_FAULTS) {
        throw new OptionError('faults', `must be at most ${MAX_FAULTS} at once: lift some`);
      }
      const left = times === Infinity ? times : numberIn('times', times, 0, 1e9, 'whole');
      const device = chipid === undefined ? undefined : integerText('chipid', chipid);
      const fault: Standing = { name, chipid: device, path, acts, left };
      if (left > 0) standing.add(fault);
      return () => void standing.delete(fault);
    },
    claimAnswer: (aim) => claim(ANSWER_FAULTS, aim),
    claimUpgrade: (aim) => claim(UPGRADE_FAULTS, aim)?.run,
    claimEvent: (chipid) =>
      claim(EVENT_FAULTS, { path: '', concerns: (other) => other === chipid })?.run,
    silent: (chipid) =>
      [...standing].some(
        (fault) =>
          fault.name === 'silence' && (fault.chipid === undefined || fault.chipid === chipid),
      ),
    clear: () => standing.clear(),
  };
}

/** Every fault there is. */
export const FAULT_NAMES = [
  ...Object.keys(ANSWER_FAULTS),
  ...Object.keys(UPGRADE_FAULTS),
  ...Object.keys(EVENT_FAULTS),
] as FaultName[];
