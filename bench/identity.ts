/** The application that the benchmark's service knows. */
export const IDENTITY = {
  appid: '10001',
  appkey: 'benchmark-application-key',
  serverKey: 'benchmark-server-key',
  serverPassword: 'benchmark-server-password',
};

const FIRST_CHIPID = 10_000_001;

/** The chip number of a device, counted from 0. */
export const chipidOf = (index: number): string => String(FIRST_CHIPID + index);

/** The chip numbers of so many devices. */
export const chipids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => chipidOf(index));

/** What is pushed in the course of a run. */
export const messageOf = (count: number): string => `set level ${count}`;
