/** Milliseconds during which further faults of a kind are only counted. */
const WINDOW = 60_000;

/** How many kinds are distinguished; all further ones count as one more. */
const MAX_KINDS = 100;
const OTHERS = 'others';

interface Kind {
  timer: NodeJS.Timeout;
  more: number;
  example: string;
}

/** Writes faults without flooding the log. */
export interface FaultLog {
  /**
   * The first fault of a kind is written at once; further ones of that minute are counted, and written
   * at its end as one line, with the last of them as an example.
   * @param kind the same for faults that differ only in the device, an id, a number
   */
  write(kind: string, line: string): void;
  /** Writes what has been counted. Nothing is written after that. */
  close(): void;
}

/** @param write writes a line to the log */
export function createFaultLog(write: (line: string) => void): FaultLog {
  const kinds = new Map<string, Kind>();
  let closed = false;

  const writeCounted = ({ more, example }: Kind): void => {
    if (more === 1) write(example);
    else if (more > 1) write(`${more} more of this kind within a minute, the last: ${example}`);
  };
  const start = (name: string): Kind => {
    const timer = setTimeout(() => endWindow(name), WINDOW);
    return { timer, more: 0, example: '' };
  };
  /** A line a minute as long as faults continue; after a quiet minute the kind is new again. */
  const endWindow = (name: string): void => {
    const kind = kinds.get(name);
    kinds.delete(name);
    if (!kind || kind.more === 0) return;
    kinds.set(name, start(name));
    writeCounted(kind);
  };

  return {
    write(kind, line) {
      if (closed) return;
      const name = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : OTHERS;
      const known = kinds.get(name);
      if (known) {
        known.more++;
        known.example = line;
        return;
      }
      kinds.set(name, start(name));
      write(line);
    },
    close() {
      closed = true;
      for (const kind of kinds.values()) {
        clearTimeout(kind.timer);
        writeCounted(kind);
      }
      kinds.clear();
    },
  };
}

/** Logs that the list of online devices has records that name no device: once, until a list has none. */
export class UnusableRecords {
  readonly #log: Pick<FaultLog, 'write'>;
  #isLogged = false;

  constructor(log: Pick<FaultLog, 'write'>) {
    this.#log = log;
  }

  /** @param invalid how many records of a reading have no valid chip number */
  read(invalid: number): void {
    if (invalid > 0 && !this.#isLogged) {
      const records = invalid === 1 ? 'One record' : `${invalid} records`;
      const rest =
        invalid === 1 ? 'has no valid chip number and is' : 'have no valid chip number and are';
      this.#log.write(
        'unusable records',
        `${records} of the list of online devices ${rest} ignored. Check that the address is the service's.`,
      );
    }
    this.#isLogged = invalid > 0;
  }
}
