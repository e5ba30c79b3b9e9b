import http from 'node:http';
import https from 'node:https';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import { notConfigured } from '../errors';
import type { ProxySettings } from '../types';
import { CONNECT_TIMEOUT, EACH_ADDRESS } from './tls';

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

/** Of an IPv6 address, which has them in a URL. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

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
  const address = withoutBrackets(text);
  return isIPv6(address) && !address.includes('%')
    ? new URL(`http://[${address}]`).hostname
    : undefined;
}

/** Whether a host is an address in a range such as `10.0.0.0/8` or `fd00::/8`; undefined if the entry is no range. */
function inRange(entry: string, host: string): boolean | undefined {
  const [, network = '', bits = ''] = /^\[?([\da-f.:]+)\]?\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(network);
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return undefined;
  const address = withoutBrackets(host);
  if (isIP(address) !== 6 && isIP(address) !== family) return false;
  const range = new BlockList();
  range.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  // An IPv4 address may be written as an IPv6 one, such as ::ffff:10.1.2.3.
  return range.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Whether an entry of `NO_PROXY` names the host: `*`, `host`, `.domain`, `*.domain`, each also with a
 * port, or a range of addresses, as curl and Go know them. An IPv6 address may be bare or in brackets; with a port it needs them, as each of its
 * colons could begin one. (proxy-from-env and undici treat the last group of a bare one as a port.)
 */
function names(entry: string, host: string, port: string): boolean {
  const text = entry.trim().toLowerCase();
  if (isIPv6(text)) return ipv6(text) === host;
  const isInRange = inRange(text, host);
  if (isInRange !== undefined) return isInRange;
  const [, pattern = '', entryPort] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  if (pattern === '' || (entryPort !== undefined && entryPort !== port)) return false;
  if (pattern === '*') return true;
  // A final dot, as of a fully qualified name, means nothing here; the host of a URL is in ASCII.
  const domain = ipv6(pattern) ?? domainToASCII(pattern.replace(/^\*?\.|\.$/g, ''));
  return host === domain || host.endsWith(`.${domain}`);
}

function resolve(settings: ProxySettings, target: URL): Proxy | undefined {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  if (settings.noProxy?.some((entry) => names(entry, target.hostname.replace(/\.$/, ''), port)))
    return undefined;
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

const fault = (code: string): Error =>
  Object.assign(new Error('The proxy gave no tunnel.'), { code });

/** Is called with the connection or the error. */
type Connected = (error: Error | null, socket?: Socket) => void;

/**
 * Makes connections to one host through a proxy's CONNECT, for calls and channels alike. undici has proxies of its own, which ask for
 * another tunnel at once when one is refused, thousands a second. https-proxy-agent 7.0.6 is no substitute: it accepts any certificate
 * that is valid for localhost when the host is an IP address, leaves an abandoned CONNECT open, and reports a refusal of the proxy as
 * one of the service.
 */
export class Tunnels {
  /** What the certificate of the service is checked for if there is no server name, as of an IP address. */
  readonly host: string;
  readonly #proxy: Proxy;
  readonly #authority: string;
  readonly #pending = new Set<http.ClientRequest>();

  /** @param origin `http://host[:port]` or `https://host[:port]` */
  constructor(proxy: Proxy, origin: string) {
    const { protocol, hostname, port } = new URL(origin);
    this.host = withoutBrackets(hostname);
    this.#proxy = proxy;
    this.#authority = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  }

  open(connected: Connected): void {
    const { url, authorization } = this.#proxy;
    const { request } = url.startsWith('https:') ? https : http;
    const proxyHost = withoutBrackets(new URL(url).hostname);
    const connect = request(url, {
      method: 'CONNECT',
      path: this.#authority,
      headers: {
        host: this.#authority,
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
      agent: false,
      // Node.js would take it from the header `host`, which names the service.
      servername: isIP(proxyHost) ? '' : proxyHost,
      ...EACH_ADDRESS,
    });
    // Over all of it: a time-out of the socket would start again with each byte of the proxy.
    const timer = setTimeout(() => connect.destroy(fault('ETIMEDOUT')), CONNECT_TIMEOUT);
    const done = (error: Error | null, socket?: Socket): void => {
      clearTimeout(timer);
      this.#pending.delete(connect);
      connected(error, socket);
    };
    this.#pending.add(connect);
    // Node.js emits it for every answer to a CONNECT, a refusal among them.
    connect.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode === 200 && head.length === 0) {
        done(null, socket);
        return;
      }
      socket.destroy();
      // With or without TLS, a service waits for its client: a tunnel on which data arrives before any was sent leads to none.
      done(fault(statusCode === 200 ? 'EPROTO' : `PROXY_${statusCode}`));
    });
    connect.on('error', done);
    connect.end();
  }

  /** Destroys tunnels that are not established yet, which their callers cannot do. */
  close(): void {
    for (const connect of this.#pending) connect.destroy(fault('ECANCELED'));
  }
}
