/** The application that the service of the benchmark knows. */
export const IDENTITY = { appid: '10001', appkey: 'benchmark-application-key' };

const FIRST_CHIPID = 10_000_001;

/** The chip number of a device, counted from 0. */
export const chipidOf = (index: number): string => String(FIRST_CHIPID + index);
export const indexOf = (chipid: string): number => Number(chipid) - FIRST_CHIPID;

export const chipids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => chipidOf(index));
