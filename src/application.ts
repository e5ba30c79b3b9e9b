import { createChannelPush, type ChannelPush } from './channel/push';
import { channelSettings } from './channel/options';
import { Channels } from './channel/channel-pool';
import type { ConnectLimiter } from './channel/connect-limiter';
import { createDeadlines, abortReason } from './http/deadline';
import { deviceLister, type ListDevices } from './api/device-list';
import { createDeviceQueues, type DeviceQueues } from './http/device-queue';
import { createDispatcher } from './http/pool';
import { callService, type HttpContext } from './http/call';
import { createListening, type Listening } from './recovery/listen';
import { openApi, type OpenApi } from './api/open-api';
import { createLimiter } from './http/limiter';
import { proxyFor, proxySecrets } from './http/proxy';
import { redactor } from './http/redact';
import { createServiceClock } from './http/service-clock';
import { serverApi, type ServerApi } from './api/server-api';
import { readSettings, type ClientOptions, type Settings } from './settings';
import { oneLine } from './util/show';
import { USER_AGENT } from './http/user-agent';

/** The longest reason of an abort that an error repeats. */
const MAX_REASON = 300;

/** What needs the application's id and key: interfaces B and C. */
export interface OpenApiParts {
  api: OpenApi;
  listDevices: ListDevices;
  channels: Channels;
  listening: Listening;
  channelPush: ChannelPush;
}

/** The moving parts of one application, assembled. Nothing is opened before it is used. */
export interface Application {
  /** What it was made with. */
  settings: Settings;
  options: ClientOptions;
  http: HttpContext;
  queues: DeviceQueues;
  /** Seconds a call may take. */
  timeout: number;
  open: OpenApiParts | undefined;
  server: ServerApi | undefined;
  /** Ends every call, closes every connection. */
  close(): Promise<void>;
}

/**
 * Puts an application together.
 * @param limiter spreads the connects of its channels; shared by all applications of a process
 * @throws DeviceCloudError `NOT_CONFIGURED` if an option is wrong
 */
export function createApplication(options: ClientOptions, limiter: ConnectLimiter): Application {
  const settings = readSettings(options);
  const { now = Date.now, random = Math.random, userAgent = USER_AGENT, tls } = options;
  const proxy =
    options.proxy === false ? undefined : proxyFor(settings.origin, options.proxy, process.env);
  const redact = redactor([
    options.appkey,
    options.serverKey,
    options.serverPassword,
    ...proxySecrets(proxy),
  ]);
  const explain = (signal: AbortSignal): string => oneLine(redact(abortReason(signal)), MAX_REASON);
  const deadlines = createDeadlines(explain);
  const queues = createDeviceQueues(settings.deviceGap, explain);
  const dispatcher = createDispatcher(settings.origin, settings.connections, tls, proxy);
  const http: HttpContext = {
    dispatcher,
    origin: settings.origin,
    proxy: proxy?.url,
    limiter: createLimiter(settings.connections),
    deadlines,
    redact,
    random,
    clock: createServiceClock(now),
  };

  let open: OpenApiParts | undefined;
  if (settings.openApi) {
    const { signCase, postParameters } = settings;
    const identity = { ...settings.openApi, userAgent, signCase, postParameters, now };
    const api = openApi(identity);
    const channels = new Channels(channelSettings(settings, identity, tls, proxy, random, limiter));
    const channelPush = createChannelPush(channels, deadlines);
    const listening = createListening({
      appid: identity.appid,
      channels,
      readUploads: async (chipid, signal) => {
        const { body } = await callService(http, api.history(chipid), settings.timeout, signal);
        return body;
      },
      now,
      random,
    });
    open = { api, channels, listening, channelPush, listDevices: deviceLister(api) };
  }

  return {
    settings,
    options,
    http,
    queues,
    timeout: settings.timeout,
    open,
    server:
      settings.serverApi &&
      serverApi({ ...settings.serverApi, userAgent, signCase: settings.signCase, now }),
    async close() {
      queues.close();
      deadlines.close();
      open?.listening.close();
      open?.channelPush.close();
      open?.channels.close();
      await dispatcher.destroy();
    },
  };
}
