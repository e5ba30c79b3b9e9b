import assert from 'node:assert/strict';
import { MemoryStore, type StoreCopy } from './memory-store';
import { MemberModel, type Surroundings } from './member-model';
import { VirtualTime } from './virtual-time';

/** The lease of a world, in ms. */
export const LEASE = 5000;

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One upload a device in this time, in ms. */
const UPLOAD = 800;

/** Milliseconds; who emits is decided by leases of seconds. */
const BETWEEN_LOOKS = 10;

interface Sending {
  by: MemberModel;
  isExcused: boolean;
}

/** Processes that share devices and a store, in virtual time; it watches what must always hold. */
export class World implements Surroundings {
  readonly time = new VirtualTime();
  readonly store = new MemoryStore(() => this.time.now);
  readonly random: () => number;
  readonly devices = ['1', '2', '3', '20', '21', '300'];
  readonly members: MemberModel[] = [];
  /** How often an upload was emitted, by device and number. */
  private readonly emissions = new Map<string, number>();
  private readonly started = new Set<string>();
  private readonly sending = new Map<string, Sending>();
  private readonly saved = new Map<string, number>();
  private readonly overlaps: string[] = [];
  /** How many commands were sent. */
  commands = 0;
  private copy: StoreCopy | undefined;
  private hasReset = false;
  private looked = 0;
  /** The chance that a process is paused between its check and the use. */
  pauses = 0;

  /** @param delay the longest delay of a message, in ms */
  constructor(
    seed: number,
    count: number,
    private readonly delay = 20,
  ) {
    this.random = randomFrom(seed);
    for (let index = 0; index < count; index++) this.join();
  }

  join(): void {
    const member = new MemberModel(this, `m${this.members.length}`);
    member.line.delay = this.delay;
    this.members.push(member);
  }

  uploads(chipid: string): number {
    return Math.floor((this.time.now + Number(chipid)) / UPLOAD);
  }

  hasEmitted(chipid: string): boolean {
    return this.started.has(chipid);
  }

  emitted(chipid: string, upload: number): void {
    this.started.add(chipid);
    const key = `${chipid}/${upload}`;
    this.emissions.set(key, (this.emissions.get(key) ?? 0) + 1);
  }

  pauseBeforeUse(): number {
    return this.random() < this.pauses ? this.random() * 3 * LEASE : 0;
  }

  began(by: MemberModel, chipid: string): () => void {
    const other = this.sending.get(chipid);
    if (other && !other.isExcused)
      this.overlaps.push(`${by.name} sends to ${chipid} while ${other.by.name} does`);
    this.commands++;
    const sending: Sending = { by, isExcused: false };
    this.sending.set(chipid, sending);
    return () => {
      if (this.sending.get(chipid) === sending) this.sending.delete(chipid);
    };
  }

  wipe(): void {
    this.reset();
    this.store.wipe();
  }

  takeCopy(): void {
    this.copy = this.store.copy();
  }

  setBack(): void {
    if (!this.copy) return;
    this.reset();
    this.store.setBack(this.copy);
  }

  private reset(): void {
    this.hasReset = true;
    this.saved.clear();
  }

  async runTo(end: number): Promise<void> {
    await this.time.runTo(end, () => this.look());
    assert.deepEqual(this.overlaps, []);
    await this.checkSaved();
  }

  /** What must hold at any moment. */
  private look(): void {
    for (const sending of this.sending.values()) {
      // Past its time, or unable to put its lock back where it was lost: that is not promised.
      const { process, line, hasLeft } = sending.by;
      const isGone = process.isDead || process.isPaused || hasLeft;
      sending.isExcused ||= isGone || (this.hasReset && (line.isCut || line.loss > 0));
    }
    if (this.time.now < this.looked + BETWEEN_LOOKS) return;
    this.looked = this.time.now;
    for (const chipid of this.devices) {
      const emitting = this.members.filter(
        ({ isRunning, cluster }) => isRunning && cluster.mayEmit(chipid),
      );
      assert.ok(
        emitting.length <= 1,
        `${emitting.map(({ name }) => name).join(' and ')} may both emit for ${chipid} at ${this.time.now}`,
      );
    }
  }

  /** As long as the store was not set back, what is saved never goes back. */
  private async checkSaved(): Promise<void> {
    const positions = await this.store.load(this.devices);
    for (const [index, chipid] of this.devices.entries()) {
      const position = Number(positions[index] ?? 0);
      assert.ok(position >= (this.saved.get(chipid) ?? 0), `the position of ${chipid} went back`);
      this.saved.set(chipid, position);
    }
  }

  /** The members that can still act. */
  get alive(): MemberModel[] {
    return this.members.filter(({ process, hasLeft }) => !process.isDead && !hasLeft);
  }

  /** Ends all faults, waits, and checks that every device is served and every position saved. */
  async recover(): Promise<void> {
    this.pauses = 0;
    for (const { line } of this.alive) Object.assign(line, { isCut: false, loss: 0, delay: 20 });
    await this.runTo(this.time.now + 5 * LEASE);
    const positions = await this.store.load(this.devices);
    for (const [index, chipid] of this.devices.entries()) {
      const owners = this.alive.filter(({ cluster }) => cluster.mayEmit(chipid));
      assert.equal(owners.length, 1, `one emits for ${chipid}`);
      const behind = this.uploads(chipid) - Number(positions[index] ?? 0);
      assert.ok(behind <= 1, `the position of ${chipid} is ${behind} uploads behind`);
    }
  }

  /** Numbers of uploads that no process has emitted. */
  get lost(): string[] {
    return this.devices.flatMap((chipid) => {
      const count = this.uploads(chipid) - 1;
      const keys = Array.from({ length: count }, (_, index) => `${chipid}/${index + 1}`);
      return keys.filter((key) => !this.emissions.has(key));
    });
  }

  /** How many emissions were repetitions. */
  get doubled(): number {
    return [...this.emissions.values()].reduce((sum, times) => sum + times - 1, 0);
  }
}
