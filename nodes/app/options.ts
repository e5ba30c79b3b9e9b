import { isAbsolute, resolve } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import {
  type ClientOptions,
  type ClusterSettings,
  DeviceCloudError,
  notConfigured,
} from '../../src/index';
import type { Api } from '../common/app';
import type { ClusterNode } from '../cluster/cluster.runtime';
import { findNode, proxyOf, readProperties, textOf, tlsOf } from '../common/settings';
import { CLUSTER_TYPE } from '../common/shared.config';
import { CHOICES, DEFAULTS, isOutside, type AppConfig, type AppCredentials } from './app.config';

/** The settings of an application as {@link readSettings} has read them, with its keys. */
export type AppSettings = AppConfig & AppCredentials;

/** A client's options, and why the keys of an interface could not be read: the other one works regardless. */
interface ReadOptions {
  options: ClientOptions;
  unset: Partial<Record<Api, DeviceCloudError>>;
}

/** Reads the properties of an application. @returns what is wrong with one, too */
export const readSettings = (settings: object) =>
  readProperties<AppConfig>(settings, DEFAULTS, CHOICES);

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
    appkey: key('open', settings.appkey),
    serverKey: key('server', settings.serverKey),
    serverPassword: key('server', settings.serverPassword),
    ...commonSettings(settings),
    ...(tls ? { tls } : {}),
    ...(proxy ? { proxy } : {}),
  };
  return { options, unset };
}

/**
 * The path of the device book; undefined without one. What is outside of the user directory has to be named by an absolute path.
 * @throws DeviceCloudError `NOT_CONFIGURED`
 */
export function bookOf(RED: NodeAPI, node: Node, { book }: AppConfig): string | undefined {
  const path = textOf(RED, node, book).trim();
  if (path === '') return undefined;
  if (isAbsolute(path)) return path;
  const { userDir } = RED.settings;
  if (!userDir)
    throw notConfigured(
      'This Node-RED has no user directory: give the device book an absolute path.',
    );
  if (isOutside(path))
    throw notConfigured(
      'The path of the device book must not contain "..": give a path in the user directory, or an absolute one.',
    );
  return resolve(userDir, path);
}

const NEEDS: Readonly<Record<Api, string>> = {
  open: 'The open API needs the appid and the app key.',
  server: 'The server API needs its key and its password.',
};

/** Why an interface cannot be used whose keys are not given; undefined if they are. */
export function lacking({ options, unset }: ReadOptions, api: Api): DeviceCloudError | undefined {
  const { appid, appkey, serverKey, serverPassword } = options;
  if (api === 'open' ? appid && appkey : serverKey && serverPassword) return undefined;
  const todo = 'Open the configuration of the application and fill them in.';
  return unset[api] ?? notConfigured(`${NEEDS[api]} ${todo}`);
}

/** The engine on which processes share the devices, if they do. @throws DeviceCloudError `NOT_CONFIGURED` */
export function clusterOf(
  RED: NodeAPI,
  { cluster, service }: AppConfig,
): ClusterSettings | undefined {
  if (!cluster || service === 'simulator') return undefined;
  const node = findNode(RED, cluster, CLUSTER_TYPE) as ClusterNode | undefined;
  if (!node)
    throw notConfigured('The cluster configuration of the application is missing or disabled.');
  return node.settings();
}

/** The settings that apply to every service, the simulator included; durations in ms, as the client has them. */
export function commonSettings(config: AppConfig) {
  const { timeout, heartbeat, ping, deviceGap, pins, timestampUnit } = config;
  const { historyZone, charset } = config;
  return {
    timeout: 1000 * Number(timeout),
    heartbeat: 1000 * Number(heartbeat),
    ping: 1000 * Number(ping),
    deviceGap: Number(deviceGap),
    pins: pins || DEFAULTS.pins,
    timestampUnit,
    historyZone,
    charset,
  };
}
