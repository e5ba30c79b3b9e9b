import { invalidInput } from '../../errors';
import { show } from '../../util/show';
import { Watch, type WatchSource } from './watch';
import { readWatchOptions } from './watch-options';
import type { FleetWatch, WatchListener, WatchOptions } from './watch-types';

/** The watches of an application, which end with it. */
export class Watches {
  readonly #source: () => WatchSource;
  readonly #watches = new Set<Watch>();

  /** @param source may throw what keeps an application from being watched */
  constructor(source: () => WatchSource) {
    this.#source = source;
  }

  /** @throws DeviceCloudError `INVALID_INPUT`, `NOT_CONFIGURED` */
  start(options: WatchOptions, listener: WatchListener): FleetWatch {
    const settings = readWatchOptions(options);
    if (typeof listener !== 'object' || (listener as unknown) === null) {
      throw invalidInput(`A listener must be an object with onEvent, but is ${show(listener)}.`);
    }
    const watch = new Watch(this.#source(), settings, listener);
    this.#watches.add(watch);
    return {
      counts: () => watch.counts(),
      state: () => watch.state(),
      close: () => {
        this.#watches.delete(watch);
        watch.close();
      },
    };
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
  }
}
