import { isIPv6 } from 'node:net';
import { notConfigured } from '../errors';
import type { ProxySettings } from '../types';

/** A proxy to go through, with `Proxy-Authorization` apart, so that the URL can be shown. */
export interface Proxy {
  /** Scheme, host and port of the proxy. */
  url: string;
  /** Value of the header `Proxy-Authorization`. A secret. */
  authorization?: string;
}

/** The secrets of a proxy: the password, and the header that carries it. */
export function proxySecrets(proxy: Proxy | undefined): string[] {
  const token = proxy?.authorization?.replace(/^Basic /, '');
  if (token === undefined) return [];
  const [, password = ''] = /:(.*)$/s.exec(Buffer.from(token, 'base64').toString()) ?? [];
  return [token, password];
}

type Environment = Readonly<Record<string, string | undefined>>;

const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** An IPv6 address as a URL has it, in brackets and in its shortest form; undefined if it is not one. */
function ipv6(text: string): string | undefined {
  const address = text.replace(/^\[(.*)\]$/, '$1');
  return isIPv6(address) && !address.includes('%')
    ? new URL(`http://[${address}]`).hostname
    : undefined;
}

/**
 * Whether an entry of `NO_PROXY` names the host: `*`, `host`, `.domain`, `*.domain`, each also with a
 * port. An IPv6 address may be bare or in brackets; with a port it needs them, as each of its
 * colons could begin one. (proxy-from-env and undici treat the last group of a bare one as a port.)
 */
function names(entry: string, host: string, port: string): boolean {
  const text = entry.trim().toLowerCase();
  if (isIPv6(text)) return ipv6(text) === host;
  const [, pattern = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  if (pattern === '' || (entryPort !== undefined && entryPort !== port)) return false;
  if (pattern === '*') return true;
  const domain = ipv6(pattern) ?? pattern.replace(/^\*?\./, '');
  return host === domain || host.endsWith(`.${domain}`);
}

function resolve(settings: ProxySettings, target: URL): Proxy | undefined {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  if (settings.noProxy?.some((entry) => names(entry, target.hostname, port))) return undefined;
  const text = /^[a-z0-9+.-]+:\/\//i.test(settings.url) ? settings.url : `http://${settings.url}`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw notConfigured('The address of the proxy is not a URL.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw notConfigured('The proxy must be an http:// or https:// one.');
  }
  const username = settings.username ?? decode(url.username);
  const password = settings.password ?? decode(url.password);
  const found: Proxy = { url: `${url.protocol}//${url.host}` };
  return username === '' ? found : { ...found, authorization: basic(username, password) };
}

/**
 * The proxy for an address: the setting, else the usual environment variables
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in either case.
 * @throws DeviceCloudError `NOT_CONFIGURED` if its address is invalid
 */
export function proxyFor(
  origin: string,
  settings: ProxySettings | undefined,
  environment: Environment,
): Proxy | undefined {
  const target = new URL(origin);
  if (settings) return resolve(settings, target);
  const variable = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const url = environment[variable.toLowerCase()] ?? environment[variable];
  if (!url) return undefined;
  const noProxy = (environment['no_proxy'] ?? environment['NO_PROXY'] ?? '').split(/[\s,]+/);
  return resolve({ url, noProxy }, target);
}

/** The error for a tunnel that did not come about. @param code what happened */
export const fault = (code: string): Error =>
  Object.assign(new Error('The proxy gave no tunnel.'), { code });

/** The error for a proxy that answers CONNECT with another status than 200; its code names that status. */
export const refusedBy = (statusCode: number): Error => fault(`PROXY_${statusCode}`);

/**
 * The error for a tunnel on which data arrives before any was sent: with or without TLS, the service
 * waits for the client, so the tunnel does not lead to one.
 */
export const speaksFirst = (): Error => fault('EPROTO');
