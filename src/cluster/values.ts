import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptValue } from '../state/folder';
import { equalJson, isObject } from '../util/object';
import { reached, type Cluster } from './cluster';
import { parsed } from './messages';
import { MOST_FIELDS, type StoredField } from './store';

/** Milliseconds after which a value counts as in use again: the store forgets one that is not. */
const DAY = 24 * 60 * 60_000;

/** Milliseconds in which a reading is repeated while the process joins in the background, and those between two tries. */
const JOINING = 5000;
const PAUSE = 100;

/** The most fields and characters in one command, so that none takes long; one field may have more on its own. */
const MOST = { fields: 500, characters: 256 * 1024 };

/** A part of a value that is written by itself. */
interface Field {
  readonly part: unknown;
  /** 0: it is not written yet. */
  version: number;
}

type Named = readonly [name: string, field: Field];

/** A field that is to be written. */
interface Writing {
  readonly name: string;
  readonly field: Field;
  readonly text: string;
}

/**
 * A value of a node that all processes keep together, since each runs the node. It is divided into fields, and a process writes
 * those alone that it has changed. A field is a property; of a list, whose entries are lists themselves, each entry is one, by
 * its first element.
 */
export class SharedValue implements KeptValue {
  readonly #cluster: Cluster;
  readonly #name: string;
  /** What this process has read and written, to be put back into a store that has lost it. */
  readonly #fields = new Map<string, Field>();
  /** The value that was last compared with the fields. */
  #noted: object | undefined;
  /** The highest version that is known. */
  #top = 0;
  /** The incarnation of the store that everything has been put back into. */
  #restored: string | undefined;
  /** Ends its use. */
  readonly close: () => void;

  /** @param name distinguishes the values of an application, and is the same in all processes */
  constructor(cluster: Cluster, name: string) {
    this.#cluster = cluster;
    this.#name = name;
    const timer = setInterval(() => this.#use(), DAY).unref();
    const leave = cluster.listen({
      onUnsettled: (incarnation) => void this.#putBack(incarnation),
    });
    let closed!: () => void;
    // The membership may end together with the node, and must not before its last write.
    cluster.track(new Promise<void>((resolve) => (closed = resolve)));
    this.close = () => {
      clearInterval(timer);
      leave();
      closed();
    };
    this.#use();
  }

  read(): Promise<object> {
    return this.refresh();
  }

  async refresh(names?: readonly string[], unwritten?: () => object | undefined): Promise<object> {
    const reading = this.#readFields(names?.map(objectField));
    const stored = await reached('What the node keeps was not read from the cluster', reading);
    const own = unwritten?.();
    if (own) this.#note(own);
    for (const { field, version, text } of stored) {
      const known = this.#fields.get(field);
      this.#top = Math.max(this.#top, version);
      // What this process is about to write is newer.
      if (known && (known.version === 0 || known.version >= version)) continue;
      const part = parsed(text);
      // Otherwise nobody has written it.
      if (part !== undefined) this.#fields.set(field, { part, version });
    }
    return wholeOf(this.#fields);
  }

  async write(value: object): Promise<void> {
    this.#note(value);
    await this.#send([...this.#fields].filter(([, { version }]) => version === 0));
  }

  /** Nothing: the other processes may have the node still. The store forgets a value that is not in use. */
  remove(): Promise<void> {
    return Promise.resolve();
  }

  /** What has changed is to be written. */
  #note(value: object): void {
    // What has been read since is newer.
    if (value === this.#noted) return;
    this.#noted = value;
    for (const [name, part] of partsOf(value))
      if (!equalJson(this.#fields.get(name)?.part, part))
        this.#fields.set(name, { part, version: 0 });
  }

  async #send(fields: readonly Named[]): Promise<void> {
    for (const batch of batchesOf(fields)) {
      const writing = this.#cluster.store.values.write(
        this.#name,
        this.#top,
        batch.map(({ name, field, text }) => ({ field: name, version: field.version, text })),
      );
      const { version, forgets } = await reached('It is written once the cluster answers', writing);
      this.#top = Math.max(this.#top, version);
      for (const { field } of batch) field.version ||= version;
      if (forgets) this.#forget();
    }
  }

  /** The store has forgotten those that changed longest ago. What the node still knows of them is written again. */
  #forget(): void {
    const age = (version: number): number => (version === 0 ? -Infinity : -version);
    const fields = [...this.#fields].filter(([name]) => name.includes('/'));
    fields.sort(([, one], [, other]) => age(one.version) - age(other.version));
    for (const [name] of fields.slice(MOST_FIELDS)) this.#fields.delete(name);
    this.#cluster.report(
      `${this.#name} has more than ${MOST_FIELDS} devices: those that changed longest ago are forgotten.`,
      'values',
    );
  }

  /** The store may have lost it. Never rejects. */
  async #putBack(incarnation: string): Promise<void> {
    if (this.#restored === incarnation) return;
    this.#restored = incarnation;
    try {
      await this.#send([...this.#fields].filter(([, { version }]) => version > 0));
    } catch {
      // The next beat tries again.
      this.#restored = undefined;
    }
  }

  async #readFields(fields: readonly string[] | undefined): Promise<StoredField[]> {
    const began = performance.now();
    for (;;) {
      try {
        return await this.#cluster.store.values.read(this.#name, fields);
      } catch (error) {
        const isEarly = this.#cluster.state === 'joining' && performance.now() - began < JOINING;
        if (!isEarly) throw error;
      }
      await sleep(PAUSE);
    }
  }

  #use(): void {
    this.#cluster.store.values.write(this.#name, this.#top, []).catch(() => undefined);
  }
}

/** The field of a property that is an object: there may be one for each device. */
const objectField = (name: string): string => `/${name}`;

function* partsOf(value: object): Generator<[name: string, part: unknown]> {
  for (const [name, part] of Object.entries(value) as [string, unknown][]) {
    if (Array.isArray(part)) {
      yield [name, []];
      for (const entry of part as unknown[][]) yield [`${name}/${String(entry[0])}`, entry];
    } else yield [isObject(part) ? objectField(name) : name, part];
  }
}

/** The value of which these are the parts. */
function wholeOf(fields: Iterable<Named>): object {
  const whole = new Map<string, unknown>();
  const entries: [list: string, entry: unknown][] = [];
  for (const [name, { part }] of fields) {
    const slash = name.indexOf('/');
    if (slash > 0) entries.push([name.slice(0, slash), part]);
    else whole.set(name.slice(slash + 1), Array.isArray(part) ? [] : part);
  }
  for (const [name, entry] of entries) {
    const list = whole.get(name);
    if (Array.isArray(list)) list.push(entry);
  }
  return Object.fromEntries(whole);
}

function* batchesOf(fields: readonly Named[]): Generator<Writing[]> {
  let batch: Writing[] = [];
  let characters = 0;
  for (const [name, field] of fields) {
    const text = JSON.stringify(field.part);
    const isFull = batch.length === MOST.fields || characters + text.length > MOST.characters;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push({ name, field, text });
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}
