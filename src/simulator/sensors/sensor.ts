/** What a device measures: the values by name, as it uploads them. */
export type Reading = Readonly<Record<string, number | boolean>>;

/** What a device measures with, moved on by each reading. */
export interface Sensor {
  /** The last reading. */
  readonly reading: Reading;
  /** Lets time pass and measures again. @param relay whether the relay on pin 5 is switched on */
  step(relay: boolean): Reading;
}
