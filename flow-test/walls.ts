/*
 * Loaded into the process of Node-RED before anything else. Node.js's own permission model keeps it from files, processes,
 * workers and native code, but before Node.js 25 not from the network: that is done here, where every connection of
 * Node.js passes, at the handles below `net`, `dgram` and `dns`. So is what the model forgets.
 */

import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import v8 from 'node:v8';
import type { Start } from './protocol';

type Method = (this: unknown, ...parameters: unknown[]) => unknown;

/** What libuv answers for "not permitted"; Node.js makes an error `EACCES` of it. */
const EACCES = -13;

const prototypeOf = (handle: unknown): Record<string, Method> =>
  Object.getPrototypeOf(handle) as Record<string, Method>;

function replace(owner: object, name: string, by: Method): void {
  if (name in owner) Object.defineProperty(owner, name, { value: by, writable: false });
}

/** The handle of a socket that is closed again before it connects. */
function handleOf(where: net.NetConnectOpts): unknown {
  const socket = new net.Socket().on('error', () => undefined);
  socket.connect(where);
  const { _handle: handle } = socket as unknown as { _handle: unknown };
  socket.destroy();
  return handle;
}

const refused: Method = () => EACCES;

/** Lets the process connect to one port of loopback and nowhere else. */
function closeNetwork(port: number): void {
  const tcp = prototypeOf(handleOf({ host: '127.0.0.1', port }));
  const connect = tcp['connect'];
  replace(tcp, 'connect', function (...parameters) {
    const [, address, to] = parameters;
    return address === '127.0.0.1' && to === port ? connect?.apply(this, parameters) : EACCES;
  });
  for (const name of ['connect6', 'bind', 'bind6', 'listen', 'open']) replace(tcp, name, refused);

  // They are pipes, made when they are first used.
  void [process.stdout, process.stderr];
  const pipe = prototypeOf(handleOf({ path: '/' }));
  for (const name of ['connect', 'bind', 'listen', 'open']) replace(pipe, name, refused);

  const socket = dgram.createSocket('udp4');
  const [state] = Object.getOwnPropertySymbols(socket)
    .map((symbol) => (socket as unknown as Record<symbol, { handle?: unknown }>)[symbol])
    .filter((value) => Object(value) === value && 'handle' in Object(value));
  const udp = prototypeOf(state?.handle);
  for (const name of ['bind', 'bind6', 'connect', 'connect6', 'send', 'send6', 'open'])
    replace(udp, name, refused);
  socket.close();

  closeNames();
}

/** No name is looked up: a name server would learn it. */
function closeNames(): void {
  const problem = (): Error =>
    Object.assign(new Error('Names are not looked up in a test.'), { code: 'ENOTFOUND' });
  for (const name of ['lookup', 'lookupService']) {
    replace(dns, name, (...parameters) => {
      const callback = parameters.at(-1);
      if (typeof callback === 'function') process.nextTick(callback as () => void, problem());
    });
    replace(dns.promises, name, () => Promise.reject(problem()));
  }
  const { _handle: channel } = new dns.Resolver() as unknown as { _handle: unknown };
  const resolver = prototypeOf(channel);
  const queries = Object.getOwnPropertyNames(resolver).filter((name) =>
    /^(query|getHostByAddr)/.test(name),
  );
  for (const name of queries) replace(resolver, name, refused);
}

/** A function that stands for another, or for a class. */
function refuse(what: string): Method {
  return function () {
    throw Object.assign(new Error(`${what} in a test.`), { code: 'ERR_ACCESS_DENIED' });
  };
}

const { port } = JSON.parse(process.argv.at(-1) ?? '{}') as Start;
if (port !== 0) closeNetwork(port);

// The permission model leaves other processes within reach: the runner, for one.
for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd'])
  replace(process, name, refuse('Other processes cannot be reached'));
replace(os, 'setPriority', refuse('Other processes cannot be reached'));

// These write files where they like: reports, what flags of V8 trace, and databases, which packages that are allowed may use.
Object.defineProperty(process, 'report', { value: undefined, writable: false });
replace(v8, 'setFlagsFromString', refuse('Flags cannot be set'));
const sqlite: object = process.getBuiltinModule('node:sqlite') ?? {};
if (!process.execArgv.includes('--allow-addons'))
  for (const [name, value] of Object.entries(sqlite))
    if (typeof value === 'function') replace(sqlite, name, refuse('SQLite cannot be used'));
syncBuiltinESMExports();
