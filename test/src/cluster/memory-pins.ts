import type { PinStore, StoredPin } from '../../../src/cluster/store';

/** The part of a store in memory that has what is wanted of pins. */
export class MemoryPins implements PinStore {
  readonly #pins = new Map<string, StoredPin>();
  #top = 0;

  wipe(): void {
    this.#pins.clear();
    this.#top = 0;
  }

  write: PinStore['write'] = (chipid, pin, text, { version = 0, isLost = false } = {}) => {
    const field = `${chipid}/${pin}`;
    const known = this.#pins.get(field)?.version;
    const isBack = isLost && (known ?? 0) < version;
    if (version > 0 && !isBack && known !== version) return Promise.resolve(0);
    const written = version > 0 && text !== undefined ? version : this.#top + 1;
    this.#top = Math.max(this.#top, written);
    if (text === undefined) this.#pins.delete(field);
    else this.#pins.set(field, { chipid, pin, version: written, text });
    return Promise.resolve(written);
  };

  version: PinStore['version'] = () => Promise.resolve(this.#top);

  list: PinStore['list'] = () => Promise.resolve([...this.#pins.values()]);
}
