import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TlsSettings } from '../../http/tls';
import type { WrongSetting } from '../store';
import type { HostAndPort } from './addresses';

/** What is used of a connection of `ioredis` that is made by way of Sentinels, or to a Redis Cluster. */
interface IndirectConnection {
  readonly status: string;
  on(event: 'sentinelError' | 'error', listener: (error: Error) => void): unknown;
  emit(event: 'error', error: Error): unknown;
}

/** The error of a Redis Cluster says only that no node could be used; that of its last node says why. */
export function causeOf(error: Error): Error {
  const { lastNodeError } = error as Error & { lastNodeError?: unknown };
  return lastNodeError instanceof Error ? lastNodeError : error;
}

/** Whether an error of the client says only that there is no connection. */
export const isVague = (error: Error): boolean =>
  causeOf(error).message.includes('Connection is closed');

const WRONG: readonly (readonly [RegExp, WrongSetting])[] = [
  [/^(?:WRONGPASS|NOAUTH|ERR invalid password|ERR AUTH )/, 'password'],
  [/NOPERM|can't run this command|user executing the script can't/, 'rights'],
  [/certificate|wrong version number|tlsv1 alert|ssl3_/i, 'tls'],
];

/** Which setting an error of the engine or of its connection shows to be wrong. */
export const wrongSetting = (text: string): WrongSetting | undefined =>
  WRONG.find(([form]) => form.test(text))?.[1];

/** A primary that was made a replica refuses to write. */
export const isReadOnly = (error: Error): boolean => error.message.startsWith('READONLY');

/**
 * Makes a connection emit why a Sentinel or a node of a Redis Cluster cannot be reached, such as a wrong certificate:
 * the client itself says only that the connection was closed.
 * @param event of the client that says so
 * @param limit milliseconds
 */
export function explainFaults(
  redis: IndirectConnection,
  event: 'sentinelError' | 'error',
  hosts: readonly HostAndPort[],
  tls: TlsSettings | undefined,
  limit: number,
): void {
  let isAsking = false;
  let asked = 0;
  redis.on(event, (error) => {
    const host = hosts[asked % hosts.length];
    if (isAsking || !host || !isVague(error)) return;
    isAsking = true;
    asked++;
    void whyNot(host, tls, limit).then((why) => {
      isAsking = false;
      if (why === undefined || redis.status === 'end') return;
      redis.emit('error', new Error(`${host.host}:${host.port}: ${why}`));
    });
  });
}

/** Tries a connection. @returns why it failed; undefined if it succeeded */
function whyNot(
  host: HostAndPort,
  tls: TlsSettings | undefined,
  limit: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ ...tls, ...host }) : connect({ ...host });
    const end = (why?: string): void => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(limit, () => end(`no connection within ${limit} ms`));
    socket.on('error', (error: Error) => end(error.message));
    socket.once(tls ? 'secureConnect' : 'connect', () => end());
  });
}
