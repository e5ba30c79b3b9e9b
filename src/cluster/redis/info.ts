import type { StoreInfo } from '../store';

/** Reads an answer to INFO: lines of name and value. */
export function readInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).map((line) => line.split(':'));
  return new Map(lines.map(([name = '', ...value]) => [name, value.join(':')]));
}

/**
 * What the Test button shows.
 * @param text the answer to INFO
 * @param saves the engine's setting `save`; undefined if it may not be read
 * @param forbidden the rights that the user lacks
 */
export function storeInfo(
  text: string,
  time: number,
  members: readonly string[],
  saves: string | undefined,
  forbidden: readonly string[],
): StoreInfo {
  const info = readInfo(text);
  const valkey = info.get('valkey_version');
  const redis = info.get('redis_version');
  const replicas = info.get('connected_slaves');
  return {
    product: valkey !== undefined ? 'Valkey' : redis !== undefined ? 'Redis' : '',
    version: valkey ?? redis ?? '',
    time,
    members,
    persistence: persistenceOf(info, saves),
    eviction: info.get('maxmemory_policy'),
    replicas: replicas === undefined ? undefined : Number(replicas),
    forbidden,
  };
}

/** @param saves the engine's setting `save`; undefined if it may not be read */
function persistenceOf(
  info: ReadonlyMap<string, string>,
  saves: string | undefined,
): StoreInfo['persistence'] {
  const log = info.get('aof_enabled');
  if (log === undefined) return undefined;
  if (log === '1') return 'log';
  if (saves === undefined) return undefined;
  return saves === '' ? 'none' : 'snapshots';
}
