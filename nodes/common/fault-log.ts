/** Milliseconds during which further faults of a kind are only counted. */
const WINDOW = 60_000;

/** How many kinds are distinguished; all further ones count as one more. */
const MAX_KINDS = 100;
const OTHERS = 'others';

/** Writes faults without flooding the log. */
export class FaultLog {
  readonly #kinds = new Map<string, { timer: NodeJS.Timeout; more: number; example: string }>();
  #isClosed = false;
  readonly #log: (line: string) => void;

  /** @param log writes a line to the log */
  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /**
   * The first fault of a kind is written at once; further ones of that minute are counted, and written
   * at its end as one line, with the last of them as an example.
   * @param kind the same for faults that differ only in the device, an id, a number
   */
  write(kind: string, line: string): void {
    if (this.#isClosed) return;
    const name = this.#kinds.has(kind) || this.#kinds.size < MAX_KINDS ? kind : OTHERS;
    const known = this.#kinds.get(name);
    if (known) {
      known.more++;
      known.example = line;
    } else {
      this.#count(name);
      this.#log(line);
    }
  }

  /** Writes what has been counted. Nothing is written after that. */
  close(): void {
    this.#isClosed = true;
    for (const name of this.#kinds.keys()) this.#end(name);
  }

  /** A line a minute as long as faults continue; after a quiet minute the kind is new again. */
  #count(name: string): void {
    const timer = setTimeout(() => {
      if (this.#end(name)) this.#count(name);
    }, WINDOW);
    this.#kinds.set(name, { timer, more: 0, example: '' });
  }

  /** @returns whether anything was counted */
  #end(name: string): boolean {
    const { timer, more = 0, example = '' } = this.#kinds.get(name) ?? {};
    clearTimeout(timer);
    this.#kinds.delete(name);
    if (more === 1) this.#log(example);
    else if (more > 1) this.#log(`${more} more of this kind within a minute, the last: ${example}`);
    return more > 0;
  }
}

/** Logs that the list of online devices has records that name no device: once, until a list has none. */
export class UnusableRecords {
  #isLogged = false;
  readonly #log: FaultLog;

  constructor(log: FaultLog) {
    this.#log = log;
  }

  /** @param invalid how many records of a reading have no valid chip number */
  read(invalid: number): void {
    if (invalid > 0 && !this.#isLogged) {
      const [records, have, are] =
        invalid === 1 ? ['One record', 'has', 'is'] : [`${invalid} records`, 'have', 'are'];
      this.#log.write(
        'unusable records',
        `${records} of the list of online devices ${have} no valid chip number and ${are} ignored. Check that the address is the service's.`,
      );
    }
    this.#isLogged = invalid > 0;
  }
}
