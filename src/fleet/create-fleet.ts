import type { ListDevices } from '../api/device-list';
import { openApiMissing } from '../api/open-api';
import type { HttpContext } from '../http/call';
import type { Listening } from '../recovery/listen';
import type { OtherLatest } from './known-upload';
import type { WatchShare } from './watch/share';
import { Fleet } from './fleet';
import type { HistoryOptions } from './latest-history';
import { LatestReader } from './latest-reader';
import { SharedListPoller, type ListPoller } from './list-poller';
import type { FleetRegistry } from './registry';
import { Watches } from './watch/watches';

interface FleetDeps {
  http: HttpContext;
  registry: FleetRegistry;
  /** Seconds that a reading of the list may take. */
  timeout: number;
  /** This machine's clock, in ms. */
  now: () => number;
  /** How histories are written, unless a caller says otherwise. */
  historyOptions: HistoryOptions;
  /** What the other processes of a cluster know. */
  remote?: OtherLatest | undefined;
  /** Which process emits the events of a watch. */
  share?: WatchShare | undefined;
}

/** Reads the list and the histories; undefined without the appid and the app key. */
interface Sources {
  listDevices: ListDevices;
  listening: Listening;
}

/** What is known of the devices of an application, and what reads more of them: their list, their histories. */
export function createFleet(
  { http, registry, timeout, now, historyOptions, remote, share }: FleetDeps,
  sources: Sources | undefined,
): { fleet: Fleet; poller: ListPoller; close: () => void } {
  const poller = new SharedListPoller({
    async list(signal) {
      if (!sources) throw openApiMissing();
      return (await sources.listDevices(http, timeout, signal)).body;
    },
    onReading: (reading) => registry.onReading(reading),
    onReadError: (error) => registry.onReadError(error),
    now,
  });
  const serviceNow = (): number => now() + (http.clock.skew() ?? 0) * 1000;
  const histories = sources && new LatestReader(sources.listening.shared, registry);
  const watches = new Watches(() => {
    if (!sources) throw openApiMissing();
    return { appid: sources.listening.shared.appid, registry, poller, now, share };
  });
  return {
    fleet: new Fleet({ registry, poller, histories, watches, serviceNow, historyOptions, remote }),
    poller,
    close() {
      watches.close();
      registry.close();
      poller.close();
      histories?.close();
    },
  };
}
