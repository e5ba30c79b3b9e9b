import { DATATYPES, DEVICE, firstOf, TYPED } from '../common/shared.config';

export const CHOICES = { datatype: DATATYPES, missing: ['error', 'null'] } as const;

/** An empty `chipid` means all devices. */
export const DEFAULTS = {
  ...DEVICE,
  ...TYPED,
  datatype: firstOf(CHOICES.datatype),
  /** How a message is handled if nothing is known of its device. */
  missing: firstOf(CHOICES.missing),
};
export type LatestConfig = typeof DEFAULTS;
