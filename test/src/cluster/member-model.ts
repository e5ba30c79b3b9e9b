import { Cluster } from '../../../src/cluster/cluster';
import type { Store } from '../../../src/cluster/store';
import { faultyStore, type Line } from './faulty-store';
import { Process, type VirtualTime } from './virtual-time';

/** Milliseconds between two looks of a process for uploads. */
const LOOK = 150;

interface Listening {
  epoch: number;
  /** Number of the last upload that was emitted; undefined until the position is known. */
  position: number | undefined;
}

/** What a process finds around it, and what it reports. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly store: Store;
  readonly random: () => number;
  readonly devices: readonly string[];
  /** How many uploads of a device the service has. */
  uploads(chipid: string): number;
  /** Whether any upload of a device was emitted. */
  hasEmitted(chipid: string): boolean;
  /** An upload of a device was emitted. */
  emitted(chipid: string, upload: number): void;
  /** Milliseconds that the process is paused between its check and the use. */
  pauseBeforeUse(): number;
  /** A command begins at a device. @returns says that it is over */
  began(by: MemberModel, chipid: string): () => void;
}

/** A process of a world: it listens to its devices and sends commands, as the client will. */
export class MemberModel {
  readonly process: Process;
  readonly line: Line = { isCut: false, loss: 0, delay: 20 };
  readonly cluster: Cluster;
  hasLeft = false;
  private readonly store: Store;
  private readonly devices = new Map<string, Listening>();

  constructor(
    private readonly world: Surroundings,
    readonly name: string,
  ) {
    const { time, store, random } = world;
    this.process = new Process(time, 0.99 + random() * 0.02);
    this.store = faultyStore(store, time, this.process, this.line, random);
    const { clock } = this.process;
    this.cluster = new Cluster({ store: this.store, lease: 5, clock, random, member: name });
    this.cluster.claims.use('listens');
    this.look();
  }

  get isRunning(): boolean {
    return !this.process.isDead && !this.process.isPaused && !this.hasLeft;
  }

  leave(): void {
    this.hasLeft = true;
    void this.cluster.close();
  }

  /** Sends a command that takes some time, with the lock of its device. */
  command(chipid: string, ms: number): void {
    const sent = this.cluster.locks.run(chipid, 10_000, async () => {
      const end = this.world.began(this, chipid);
      await new Promise<void>((resolve) => void this.process.clock.after(ms, resolve));
      end();
    });
    sent.catch(() => undefined);
  }

  private look(): void {
    for (const chipid of this.world.devices) this.listen(chipid);
    this.process.clock.after(LOOK, () => this.look());
  }

  private listen(chipid: string): void {
    const epoch = this.cluster.epochOf(chipid);
    const before = this.devices.get(chipid);
    if (epoch === undefined) {
      this.devices.delete(chipid);
      return;
    }
    if (before?.epoch === epoch) {
      this.emit(chipid, before);
      return;
    }
    const listening: Listening = { epoch, position: undefined };
    this.devices.set(chipid, listening);
    this.load(chipid, listening);
  }

  private load(chipid: string, listening: Listening): void {
    this.cluster.positions.load(chipid).then(
      (position) => {
        if (this.devices.get(chipid) !== listening) return;
        // Without a position a listener begins with what comes next.
        const latest = this.world.uploads(chipid);
        const isNew = !this.world.hasEmitted(chipid);
        listening.position = position === undefined ? (isNew ? 0 : latest) : Number(position);
      },
      () => this.devices.delete(chipid),
    );
  }

  /** Emits what is new; now and then the process is paused after it has asked whether it may. */
  private emit(chipid: string, listening: Listening): void {
    const latest = this.world.uploads(chipid);
    if (listening.position === undefined || listening.position >= latest) return;
    if (!this.cluster.mayEmit(chipid)) return;
    const use = (): void => {
      if (this.devices.get(chipid) !== listening || listening.position === undefined) return;
      while (listening.position < latest) {
        listening.position++;
        this.world.emitted(chipid, listening.position);
        this.cluster.positions.save(chipid, String(listening.position));
      }
    };
    const pause = this.world.pauseBeforeUse();
    if (pause === 0) {
      use();
      return;
    }
    this.process.pause(pause);
    this.process.run(use);
  }
}
