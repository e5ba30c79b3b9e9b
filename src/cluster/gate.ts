import type { IsolatedListener } from '../channel/listener';
import { arrivalKeys, joinKeys } from '../history/form';
import type { Deliver } from '../recovery/options';
import type { Position } from '../recovery/position';
import type { Upload } from '../types';
import type { Cluster } from './cluster';
import { uploadToText } from './messages';
import { positionToText } from './positions';

/** The most keys in a position. If a longer batch is interrupted, its first part is recovered again. */
const MOST_KEYS = 10_000;

/** A listener of a device, and where its uploads are delivered. */
export interface Place {
  readonly listener: IsolatedListener;
  readonly deliver: Deliver;
}

/** The part of the cluster that a gate uses. */
export type GateCluster = Pick<Cluster, 'mayEmit' | 'savePosition' | 'append'>;

/**
 * Emits the uploads of one device: to its listeners, or into the queue, each with its position. Nothing is emitted
 * while the cluster does not allow it.
 */
export class Gate {
  /** The position of what was emitted. */
  position: Position | undefined = undefined;
  readonly #chipid: string;
  readonly #cluster: GateCluster;
  readonly #places: ReadonlySet<Place>;
  /** Keys of the uploads that were emitted after the position, if there is one. */
  #left: string[] = [];
  /** Uploads for the queue that do not have a position yet, as texts. */
  #queued: string[] = [];
  /** To be written as soon as what was emitted has reached the flow. */
  #unsaved: Position | undefined;

  constructor(chipid: string, cluster: GateCluster, places: ReadonlySet<Place>) {
    this.#chipid = chipid;
    this.#cluster = cluster;
    this.#places = places;
  }

  /** Emits an upload. @returns false if nothing may be emitted now */
  pass(upload: Upload): boolean {
    if (!this.#cluster.mayEmit(this.#chipid)) return false;
    const places = [...this.#places];
    // Before the listeners are called, since a flow may change the bytes.
    if (this.position) this.#left.push(joinKeys(arrivalKeys(upload.body)));
    if (places.some(({ deliver }) => deliver === 'queue')) this.#enqueue(upload);
    let isShared = false;
    for (const { listener, deliver } of places) {
      if (deliver === 'queue') continue;
      listener.onUpload(isShared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      isShared = true;
    }
    return true;
  }

  /** Sets the position up to which uploads have been emitted. */
  save(position: Position): void {
    const before = this.position;
    this.position = position;
    this.#left = [];
    if (this.#queued.length > 0) {
      this.#unsaved = undefined;
      this.#append(before, position);
      return;
    }
    // Node-RED passes a message on in the next turn, and drops it if it is stopped before that.
    if (!this.#unsaved) setImmediate(() => this.flush());
    this.#unsaved = position;
  }

  /** Interrupts a batch. What was emitted of it is after the position: its keys keep it from being recovered again. */
  breakOff(): void {
    const { position } = this;
    const left = this.#left;
    if (position && left.length > 0 && left.length <= MOST_KEYS)
      this.save({ ...position, keys: [...(position.keys ?? []), ...left] });
    this.#left = [];
  }

  /** Writes the position of what was emitted, without waiting for the turn to end. */
  flush(): void {
    const position = this.#unsaved;
    this.#unsaved = undefined;
    if (position) this.#cluster.savePosition(this.#chipid, positionToText(position));
  }

  /** The last listener has left: what was emitted in this turn will be emitted again to the next one. */
  close(): void {
    this.#unsaved = undefined;
  }

  #enqueue(upload: Upload): void {
    // For a device that has no position yet.
    if (this.#queued.length === 0) queueMicrotask(() => this.#append(this.position, this.position));
    this.#queued.push(uploadToText(upload));
  }

  /** Uploads that arrive together share the position of the last one. */
  #append(before: Position | undefined, after: Position | undefined): void {
    const queued = this.#queued;
    if (queued.length === 0) return;
    this.#queued = [];
    const earlier = before ? positionToText(before) : '';
    const last = after ? positionToText(after) : '';
    for (const [index, upload] of queued.entries()) {
      const position = index === queued.length - 1 ? last : earlier;
      // If another process holds the device by now, it appends the upload.
      this.#cluster.append(this.#chipid, position, upload).catch(() => undefined);
    }
    // Written after them: what listeners here were given as well counts as emitted, which is allowed only in time.
    if (last !== '' && [...this.#places].some(({ deliver }) => deliver !== 'queue'))
      this.#cluster.savePosition(this.#chipid, last);
  }
}
