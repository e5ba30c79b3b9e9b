import type { FaultLog } from './fault-log';

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
