import type { Upload } from '../channel/frames';
import type { Cluster } from '../cluster/cluster';
import { uploadToText } from '../cluster/upload-text';
import { joinKeys, liveKeys } from '../recovery/keys';
import type { Position } from '../recovery/position';
import type { Place } from './place';
import { positionToText } from './stored-position';

/** A position has at most as many keys: of a longer batch that is broken off, the first part is recovered again. */
const MOST_KEYS = 10_000;

/** What a gate uses of the cluster. */
export type GateCluster = Pick<Cluster, 'mayEmit' | 'savePosition' | 'append'>;

/**
 * What leaves this process for one device: to its listeners, or into the queue, each upload with its position. Nothing
 * leaves while the cluster does not allow it.
 */
export class Gate {
  /** Of what has left. */
  position: Position | undefined;
  /** Keys of the uploads that have left since the position, if there is one. */
  private left: string[] = [];
  /** Uploads for the queue that have no position yet, as texts. */
  private queued: string[] = [];
  /** Is written once what was let out has reached the flow. */
  private unsaved: Position | undefined;

  constructor(
    private readonly chipid: string,
    private readonly cluster: GateCluster,
    private readonly places: ReadonlySet<Place>,
  ) {}

  /** Lets an upload out. @returns false if nothing may leave now */
  pass(upload: Upload): boolean {
    if (!this.cluster.mayEmit(this.chipid)) return false;
    const places = [...this.places];
    // First, since a flow may change the bytes.
    if (this.position) this.left.push(joinKeys(liveKeys(upload.body)));
    if (places.some(({ deliver }) => deliver === 'queue')) this.enqueue(upload);
    let isShared = false;
    for (const { listener, deliver } of places) {
      if (deliver === 'queue') continue;
      listener.onUpload(isShared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      isShared = true;
    }
    return true;
  }

  /** Notes how far uploads have been let out. */
  save(position: Position): void {
    const before = this.position;
    this.position = position;
    this.left = [];
    if (this.queued.length > 0) {
      this.unsaved = undefined;
      this.append(before, position);
      return;
    }
    // Node-RED passes a message on in the next turn, and drops it if it is stopped before: then it has not been emitted.
    if (!this.unsaved) setImmediate(() => this.flush());
    this.unsaved = position;
  }

  /** Nothing more of a batch will leave: what has left of it follows the position, and would be recovered again. */
  breakOff(): void {
    const { position, left } = this;
    if (position && left.length > 0 && left.length <= MOST_KEYS)
      this.save({ ...position, keys: [...(position.keys ?? []), ...left] });
    this.left = [];
  }

  /** Writes the position of what was let out, at once. */
  flush(): void {
    const position = this.unsaved;
    this.unsaved = undefined;
    if (position) this.cluster.savePosition(this.chipid, positionToText(position));
  }

  /** Nobody listens any more: what was let out in this turn is let out again by the next one who does. */
  close(): void {
    this.unsaved = undefined;
  }

  private enqueue(upload: Upload): void {
    // For a device that has no position yet.
    if (this.queued.length === 0) queueMicrotask(() => this.append(this.position, this.position));
    this.queued.push(uploadToText(upload));
  }

  /** Uploads that come together have one position, that of the last. */
  private append(before: Position | undefined, after: Position | undefined): void {
    const queued = this.queued;
    this.queued = [];
    const [earlier, last] = [before, after].map((each) => (each ? positionToText(each) : '')) as [
      string,
      string,
    ];
    for (const [index, upload] of queued.entries()) {
      const position = index === queued.length - 1 ? last : earlier;
      // If another process has the device by now, that one appends it.
      this.cluster.append(this.chipid, position, upload).catch(() => undefined);
    }
  }
}
