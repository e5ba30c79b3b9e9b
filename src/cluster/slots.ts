import { hash32 } from '../util/hash32';

/** Devices are shared by slot, so that the cost of a beat does not depend on their number. */
export const SLOTS = 256;

/** The queue's streams; each is leased like a slot, under a number that follows the last one of the devices. */
export const PARTITIONS = 64;

/** What members share evenly: the devices, and the partitions of the queue. */
export type Pool = 'devices' | 'queue';

/** The slot numbers of each pool: the first one, and the one after the last. */
export const POOLS: Readonly<Record<Pool, readonly [first: number, end: number]>> = {
  devices: [0, SLOTS],
  queue: [SLOTS, SLOTS + PARTITIONS],
};

/** The slot of a device. All versions of the package must agree on it: it decides who emits. */
export const slotOf = (chipid: string): number => hash32(chipid) % SLOTS;

/** The stream that contains the uploads of a device, from 0. */
export const partitionOf = (chipid: string): number => slotOf(chipid) % PARTITIONS;

/** The number under which a partition is leased. */
export const slotOfPartition = (partition: number): number => SLOTS + partition;

export const partitionOfSlot = (slot: number): number => slot - SLOTS;

export const isPartition = (slot: number): boolean => slot >= SLOTS;
