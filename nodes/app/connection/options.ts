import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError, type ClientOptions } from '../../../src/index';
import { zoneOf, type AppConfig, type AppCredentials } from '../app.config';
import type { Api } from '../../common/app';
import { CHARSETS, HISTORY_ENCODINGS } from '../../common/app-type';
import { numberOf } from '../../common/values';
import { textOf } from '../../common/variables';
import { proxyOf, tlsOf } from '../../common/network';

/** The settings of an application as saved or typed: anything may be missing. */
export type AppSettings = Partial<AppConfig> & { credentials?: AppCredentials | undefined };

/** A client's options, and why the keys of an interface could not be read: the other one works regardless. */
export interface ReadOptions {
  options: ClientOptions;
  unset: Partial<Record<Api, DeviceCloudError>>;
}

/**
 * Makes a client's options from the settings of an application.
 * @param node the deployed config node, or undefined for settings that were only typed
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function clientOptions(
  RED: NodeAPI,
  node: Node | undefined,
  settings: AppSettings,
): ReadOptions {
  const { credentials = {} } = settings;
  const unset: ReadOptions['unset'] = {};
  const key = (api: Api, value: unknown): string => {
    try {
      return textOf(RED, node, value);
    } catch (error) {
      if (!(error instanceof DeviceCloudError)) throw error;
      unset[api] = error;
      return '';
    }
  };
  const tls = tlsOf(RED, settings.tls);
  const proxy = proxyOf(RED, settings.proxy);
  const options = {
    baseUrl: textOf(RED, node, settings.baseUrl),
    appid: key('open', settings.appid),
    appkey: key('open', credentials.appkey),
    serverKey: key('server', credentials.serverKey),
    serverPassword: key('server', credentials.serverPassword),
    ...commonSettings(settings),
    ...(tls ? { tls } : {}),
    ...(proxy ? { proxy } : {}),
  };
  return { options, unset };
}

/** What may differ from service to service. Anything unknown in a flow that was written by hand means the default. */
export function dialectOf(settings: AppSettings) {
  return {
    historyEncoding: HISTORY_ENCODINGS.find((each) => each === settings.historyEncoding) ?? 'auto',
    historyZone: zoneOf(settings),
    charset: CHARSETS.find((each) => each === settings.charset) ?? 'utf-8',
  };
}

/** The settings that apply to every service, the simulator included. */
export function commonSettings(settings: AppSettings) {
  return {
    timeout: numberOf(settings.timeout, 15),
    heartbeat: numberOf(settings.heartbeat, 300),
    ping: numberOf(settings.ping, 30),
    connections: numberOf(settings.connections, 64),
    deviceGap: numberOf(settings.deviceGap, 0),
    pins: settings.pins || 'auto',
    timestampUnit: settings.timestampUnit === 's' ? ('s' as const) : ('ms' as const),
    postParameters: settings.postParameters === 'query' ? ('query' as const) : ('body' as const),
    signCase: settings.signCase === 'ascii' ? ('ascii' as const) : ('unicode' as const),
    ...dialectOf(settings),
  };
}
