import type { Bus } from './bus';
import { uploadFromText } from './upload-text';
import type { Upload } from '../types';
import { isChipid, MOST_DEVICES, readStates, WANTED, type OwnerState } from './messages';

/** Wants the uploads of a device that another process holds. */
export interface Wanting {
  readonly chipid: string;
  /** Whether an owner has passed uploads on before. */
  readonly hasHeard: boolean;
  /** @param from the id of the owner */
  onOwner(state: OwnerState, from: string): void;
  onPassed(upload: Upload, epoch: number): void;
  /** Checks whether the owner still answers. */
  check(): void;
}

/** Requests uploads from the other processes, and repeats each request as long as they are wanted. */
export class Wants {
  private readonly wanting = new Map<string, Set<Wanting>>();
  private news = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** @param malformed an upload could not be read */
  constructor(
    private readonly bus: Bus,
    private readonly malformed: () => void,
  ) {
    bus.on('state', ({ states }, from) => {
      for (const state of readStates(states))
        this.each(state.chipid, (wanting) => wanting.onOwner(state, from));
    });
    bus.on('upload', (data) => this.upload(data));
  }

  add(wanting: Wanting): void {
    const { chipid } = wanting;
    const known = this.wanting.get(chipid);
    if (known) known.add(wanting);
    else this.wanting.set(chipid, new Set([wanting]));
    // Many are added in one turn when a process gives up its share.
    if (this.news.size === 0) queueMicrotask(() => this.ask(this.news));
    this.news.add(chipid);
    this.timer ??= setInterval(() => {
      this.ask(this.wanting.keys());
      for (const each of this.wanting.keys()) this.each(each, (one) => one.check());
    }, WANTED.again);
  }

  remove(wanting: Wanting): void {
    const known = this.wanting.get(wanting.chipid);
    if (!known?.delete(wanting) || known.size > 0) return;
    this.wanting.delete(wanting.chipid);
    if (this.wanting.size === 0) this.close();
  }

  /** Repeats all requests at once, since the owners may have changed. */
  requestAll(): void {
    this.ask(this.wanting.keys());
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private ask(chipids: Iterable<string>): void {
    const devices = [...chipids].flatMap((chipid) => {
      const wanting = this.wanting.get(chipid);
      return wanting ? [[chipid, [...wanting].some(({ hasHeard }) => hasHeard)] as const] : [];
    });
    this.news = new Set();
    for (let first = 0; first < devices.length; first += MOST_DEVICES)
      this.bus.post(undefined, 'want', { devices: devices.slice(first, first + MOST_DEVICES) });
  }

  private upload({ chipid, epoch, upload: text }: Readonly<Record<string, unknown>>): void {
    if (!isChipid(chipid) || !this.wanting.has(chipid)) return;
    const upload = typeof text === 'string' ? uploadFromText(chipid, text) : undefined;
    if (upload && typeof epoch === 'number')
      this.each(chipid, (wanting) => {
        wanting.onPassed({ ...upload, body: Buffer.from(upload.body) }, epoch);
      });
    else this.malformed();
  }

  private each(chipid: string, call: (wanting: Wanting) => void): void {
    for (const wanting of [...(this.wanting.get(chipid) ?? [])]) call(wanting);
  }
}
