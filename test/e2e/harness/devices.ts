/** The chip numbers of the simulator's first devices. */
export const ONE = '10000001';
export const TWO = '10000002';
export const THREE = '10000003';
