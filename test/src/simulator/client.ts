import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import { startSimulator } from '../../../src/simulator';
import { signByHand, signServerByHand } from '../../tooling/sign-by-hand';

// A separate client that signs by hand as sections 5.1 and 5.2 say: the simulator must not be checked
// with the code it checks signatures with.

export const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

export interface Reply {
  status: number;
  body: unknown;
  text: string;
  headers: Headers;
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text) as unknown;
  } catch {
    body = undefined;
  }
  return { status: response.status, body, text, headers: response.headers };
}

export async function send(simulator: Simulator, path: string, init: RequestInit = {}) {
  return replyOf(await fetch(simulator.baseUrl + path, { redirect: 'manual', ...init }));
}

export interface OpenCall {
  query?: Record<string, string>;
  form?: Record<string, string>;
  appid?: string;
  appkey?: string;
  timestamp?: string;
  sign?: string;
}

/** The path and query of a signed request of interface B. */
export function openUrl(simulator: Simulator, method: string, path: string, call: OpenCall = {}) {
  const { query = {}, form = {}, appid = simulator.appid, appkey = simulator.appkey } = call;
  const timestamp = call.timestamp ?? String(Math.floor(Date.now() / 1000));
  const params = { ...query, appid, timestamp };
  const sign = call.sign ?? signByHand(method, { ...params, ...form }, appkey);
  return `/openapi/${path}?${new URLSearchParams({ ...params, sign }).toString()}`;
}

export const openGet = (simulator: Simulator, path: string, call?: OpenCall): Promise<Reply> =>
  send(simulator, openUrl(simulator, 'get', path, call));

export function openPost(simulator: Simulator, path: string, call: OpenCall = {}): Promise<Reply> {
  const init: RequestInit = { method: 'POST' };
  if (call.form) init.body = new URLSearchParams(call.form);
  return send(simulator, openUrl(simulator, 'post', path, call), init);
}

export const push = (simulator: Simulator, devid: string, message: string, format = 'MSG') =>
  openPost(simulator, 'dev/push/message/', { form: { devid, message, format } });

/** A request of interface A, signed as section 5.1 says. */
export function serverCall(
  simulator: Simulator,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const key = simulator.serverKey;
  const timestamp = headers['timestamp'] ?? String(Math.floor(Date.now() / 1000));
  const pure = `/api/server${path}`.split('?')[0] ?? '';
  const sign = signServerByHand(method, pure, key, timestamp, simulator.serverPassword);
  const init: RequestInit = { method, headers: { key, timestamp, sign, ...headers } };
  if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body);
  return send(simulator, `/api/server${path}`, init);
}

export function channelUrl(simulator: Simulator, chipid: string, call: OpenCall = {}): string {
  const { appid = simulator.appid, appkey = simulator.appkey } = call;
  const timestamp = call.timestamp ?? String(Date.now());
  const params = { appid, timestamp, chipid };
  const sign = call.sign ?? signByHand('get', params, appkey);
  const query = new URLSearchParams({ ...params, sign }).toString();
  return `${simulator.baseUrl.replace('http', 'ws')}/noticed/peer?${query}`;
}

export async function openChannel(simulator: Simulator, chipid: string): Promise<WebSocket> {
  const socket = new WebSocket(channelUrl(simulator, chipid));
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

/** The status with which an upgrade is refused. */
export function refusedUpgrade(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on('error', reject);
    socket.on('open', () => reject(new Error('the channel opened')));
    socket.on('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
  });
}

/** The next frame, as text. */
export async function nextFrame(socket: WebSocket): Promise<string> {
  const [data] = (await once(socket, 'message')) as [Buffer];
  return data.toString('utf8');
}

export async function nextEvent(socket: WebSocket): Promise<unknown> {
  return JSON.parse(await nextFrame(socket)) as unknown;
}

/** Runs a test against a simulator whose devices say nothing of themselves and answer at once. */
export function withSimulator(
  options: SimulatorOptions,
  test: (simulator: Simulator) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const simulator = await startSimulator({ interval: 0, answerDelay: 0, ...options });
    try {
      await test(simulator);
    } finally {
      await simulator.close();
    }
  };
}
