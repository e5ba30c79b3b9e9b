import { ChannelPushes } from './channel/push';
import { channelSettings, Channels } from './channel/pool';
import { TimerQueue } from './channel/timer-queue';
import { Deadlines, abortReason } from './http/deadline';
import { daySync, deviceLister } from './http/two-requests';
import { KeptPins } from './commands/pins';
import { Command, Queues } from './commands/queue';
import { CONNECTIONS, createDispatcher, Turns } from './http/pool';
import { callOnce, type HttpContext } from './http/exchange';
import { DeviceCommands } from './commands/waiting';
import { Book } from './fleet/book';
import { Fleet } from './fleet/fleet';
import { TestRecorder } from './fleet/test-recorder';
import { Acknowledged } from './recovery/acknowledged';
import { historyStreamer } from './recovery/reader';
import { Listening } from './recovery/recovery';
import { USUAL_OFFSET, zoneOffset } from './recovery/zone';
import { openApi, PUBLIC_LIST } from './protocol/open-api';
import { Pulses } from './commands/pulse';
import { Requests } from './commands/requests';
import type { AllServiceLimits } from './http/service-limiter';
import { proxyFor, proxySecrets, Tunnels } from './http/proxy';
import { ServiceClock } from './http/answer';
import { serverApi } from './protocol/server-api';
import { invalidInput } from './errors';
import { readSettings, type ClientOptions, type Settings } from './settings';
import { MEMORY, Store } from './store/store';
import type { Answer, ResultAnswer } from './types';
import { GUARD } from './util/guard';
import { Semaphore } from './util/semaphore';
import { oneLine, redactor } from './util/show';

/** The longest reason of an abort that an error repeats. */
const MAX_REASON = 300;

/**
 * More changes than a fleet can make in a millisecond, so that a later registry never begins below the
 * revision at which an earlier one ended.
 */
const REVISIONS_PER_MS = 1024;

/** Milliseconds that the service's times are ahead of UTC: as it is set, learned, or most likely. */
const serviceZone = ({ historyZone }: Settings, listening?: Listening): number =>
  zoneOffset(historyZone) ?? listening?.shared.facts.likelyZone ?? USUAL_OFFSET;

/**
 * Puts an application together.
 * @param limits of each service, which all applications of a process share
 * @param acknowledging those of the process
 * @throws DeviceCloudError `NOT_CONFIGURED` if an option is wrong
 */
export function createApplication(
  options: ClientOptions,
  limits: AllServiceLimits,
  acknowledging = new Set<Acknowledged>(),
) {
  const settings = readSettings(options);
  const { now = Date.now, random = Math.random, tls } = options;
  const { store = new Store(MEMORY), [GUARD]: guard } = options;
  const proxy =
    options.proxy === false ? undefined : proxyFor(settings.origin, options.proxy, process.env);
  const { appkey, serverKey, serverPassword } = options;
  const secrets = [appkey, serverKey, serverPassword, ...proxySecrets(proxy)].filter(
    (secret) => secret !== undefined,
  );
  const redact = redactor(secrets);
  const explain = (signal: AbortSignal): string => oneLine(redact(abortReason(signal)), MAX_REASON);
  const deadlines = new Deadlines(explain);
  const fleet = new Fleet(now, Date.now() * REVISIONS_PER_MS);
  const titleOf = (chipid: string): string => fleet.titleOf(chipid);
  const queues = new Queues(settings.deviceGap, {
    explain,
    observer: fleet.onQueue,
    titleOf,
    guard,
  });
  const timers = new TimerQueue();
  // The ids of interface A are its own: one that looks like a chip number is another device.
  const serverQueues = new Queues(settings.deviceGap, { explain });
  const turns = new Turns();
  const tunnels = proxy && new Tunnels(proxy, settings.origin);
  const dispatcher = createDispatcher(settings.origin, CONNECTIONS, tls, tunnels, turns);
  const http: HttpContext = {
    dispatcher,
    origin: settings.origin,
    hasProxy: proxy !== undefined,
    places: new Semaphore(CONNECTIONS),
    turns,
    deadlines,
    redact,
    random,
    clock: new ServiceClock(now),
  };

  /** What answers have shown about the service. */
  const found: { listPath: string | undefined } = { listPath: undefined };

  const openParts = (openApiSettings: NonNullable<Settings['openApi']>) => {
    const { origin, historyZone: zone, timeout } = settings;
    const { handshakes, readings } = limits.of(origin);
    const identity = { ...openApiSettings, now };
    const { appid } = identity;
    const api = openApi(identity, titleOf);
    const channels = new Channels({
      ...channelSettings(settings, identity, tls, tunnels),
      limiter: handshakes,
      observer: fleet,
      random,
      timers,
      clock: http.clock,
    });
    const streamHistory = historyStreamer(http, api, timeout);
    const listening = new Listening({
      store,
      appid,
      channels,
      read: streamHistory,
      limiter: readings,
      now,
      random,
      observer: fleet,
      ...(guard && { guard }),
    });
    const acknowledged = new Acknowledged({ origin, appid, listening, store, zone }, acknowledging);
    const listDevices = deviceLister(http, api, (path) => {
      found.listPath = path;
      listening.shared.facts.isPublic = path === PUBLIC_LIST;
    });
    const { clock } = http;
    fleet.sources = { listDevices, timeout, clock, listening, acknowledged };
    const { poller: list } = fleet;
    const commands = new DeviceCommands({
      queues,
      registry: fleet,
      now,
      timers,
      list,
      clock,
      channels,
    });
    const requests = new Requests({
      listening,
      deadlines,
      queues,
      turns: new Queues(0, { explain }),
      onPushError: (chipid, error) => commands.failed(chipid, error),
    });
    const pins = new KeptPins({
      api,
      channels,
      list,
      order: settings.pins,
      registry: fleet,
      store,
      timers,
      call(device, make, timeout) {
        const work = async (): Promise<Answer<ResultAnswer> | undefined> => {
          const spec = make();
          if (!spec) return undefined;
          return fleet.onCommand(device, spec.does, callOnce(http, spec, timeout));
        };
        return queues.run(new Command(device, work, { longest: timeout }, commands.onFailure));
      },
    });
    return {
      api,
      channels,
      listening,
      acknowledged,
      streamHistory,
      listDevices,
      commands,
      requests,
      pins,
      channelPush: new ChannelPushes(channels, deadlines),
      pulses: new Pulses(http, api, explain),
      sync: daySync(http, api, () => serviceZone(settings, listening)),
    };
  };
  const open = settings.openApi && openParts(settings.openApi);

  // Nothing throws any more, so that it is certain to be closed.
  const book = settings.book === undefined ? undefined : new Book(settings.book);
  if (book) fleet.useBook(book);
  function recordTest(chipids: readonly string[] | undefined): TestRecorder {
    if (fleet.recorder?.state.isOver === false)
      throw invalidInput('The application is being recorded already.');
    const recorder = new TestRecorder(chipids, secrets);
    fleet.recorder = recorder;
    http.onAnswered = (request) => recorder.onAnswered(request);
    return recorder;
  }

  return {
    settings,
    options,
    http,
    queues,
    /** Of commands of interface A, by their `deviceid`. */
    serverQueues,
    /** This machine's clock, in ms. */
    now,
    /** What needs the application's id and key: interfaces B and C. */
    open,
    found,
    /** What is known of its devices. */
    fleet,
    /** Milliseconds that the service's times are ahead of UTC. */
    get zone(): number {
      return serviceZone(settings, open?.listening);
    },
    server: settings.serverApi && serverApi({ ...settings.serverApi, now }),
    recordTest,
    /** Ends every call, closes every connection; takes at most 3 s if a pulse has a pin to set back. */
    async close(): Promise<void> {
      open?.pins.close();
      book?.close();
      fleet.recorder?.end();
      fleet.close();
      const commands = open?.commands.close();
      queues.close();
      serverQueues.close();
      deadlines.close();
      open?.requests.close();
      open?.listening.close();
      open?.channelPush.close();
      await Promise.all([commands, open?.channels.close()]);
      await open?.pulses.close();
      tunnels?.close();
      await dispatcher.destroy();
    },
  };
}

/** The moving parts of one application, assembled. Nothing is opened before it is used. */
export type Application = ReturnType<typeof createApplication>;

export type OpenApiParts = NonNullable<Application['open']>;
