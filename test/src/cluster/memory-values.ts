import { MOST_FIELDS, type StoredField, type ValueStore } from '../../../src/cluster/store';

/** How many fields above the limit there may be for a while. */
const SPARE = 500;

interface Value {
  top: number;
  fields: Map<string, StoredField>;
}

/** The part of a store in memory that has what nodes keep. */
export class MemoryValues implements ValueStore {
  readonly #values = new Map<string, Value>();

  wipe(): void {
    this.#values.clear();
  }

  read: ValueStore['read'] = (name, fields) => {
    const all = [...(this.#values.get(name)?.fields.values() ?? [])];
    return Promise.resolve(fields ? all.filter(({ field }) => fields.includes(field)) : all);
  };

  write: ValueStore['write'] = (name, top, written) => {
    const value = this.#values.get(name) ?? { top: 0, fields: new Map() };
    const next = Math.max(value.top, top) + 1;
    if (written.length > 0) this.#values.set(name, Object.assign(value, { top: next }));
    for (const { field, version, text } of written) {
      const own = version === 0 ? next : version;
      if (own > (value.fields.get(field)?.version ?? 0))
        value.fields.set(field, { field, version: own, text });
    }
    const forgets = value.fields.size >= MOST_FIELDS + SPARE;
    if (forgets)
      [...value.fields.values()]
        .filter(({ field }) => field.includes('/'))
        .sort((one, other) => one.version - other.version)
        .slice(0, -MOST_FIELDS)
        .forEach(({ field }) => value.fields.delete(field));
    return Promise.resolve({ version: next, forgets });
  };
}
