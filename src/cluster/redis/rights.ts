import { StoreError } from '../store';
import type { Commands } from './commands';
import { script } from './scripts';

/** The prefix of the keys and channels of all applications, as a pattern of an ACL. */
const PREFIX = '{device-cloud:*';

/** How engines say that the user may not run a command, or that it is disabled. */
const FORBIDDEN = /NOPERM|user executing the script can't|unknown command/i;

const NOTHING = script('return 1');

/** What rights are tried with. */
export interface Trial {
  /** A key and a channel of the application that are used for nothing else. */
  readonly key: string;
  readonly topic: string;
  readonly database: number;
}

type Command = readonly [name: string, ...args: (string | number)[]];

/**
 * A harmless use of each command that the package needs, in scripts or on its own. The key holds a text, so commands
 * that would add to it fail.
 */
const uses = ({ key, topic, database }: Trial): readonly Command[] => [
  // A user without this right would work in database 0, without an error.
  ...(database === 0 ? [] : [['SELECT', database] as const]),
  ['SET', key, '', 'PX', 1000],
  ['EVAL', NOTHING.text, 1, key],
  ['EVALSHA', NOTHING.sha, 1, key],
  ['INFO', 'server'],
  ['TIME'],
  ['GET', key],
  ['EXISTS', key],
  ['HGET', key, ''],
  ['HMGET', key, ''],
  ['HGETALL', key],
  ['HKEYS', key],
  ['HSET', key, '', ''],
  ['HSETNX', key, '', ''],
  ['HDEL', key, ''],
  ['LINDEX', key, 0],
  ['LLEN', key],
  ['LPOP', key],
  ['LREM', key, 1, ''],
  ['RPUSH', key, ''],
  ['SADD', key, ''],
  ['SRANDMEMBER', key, 1],
  ['SREM', key, ''],
  ['XADD', key, '*', '', ''],
  ['XRANGE', key, '-', '+'],
  ['XDEL', key, '0-1'],
  ['XLEN', key],
  ['PUBLISH', topic, ''],
  ['DEL', key],
];

/** The right that the user lacks; undefined if the command is allowed. */
function missing(command: string, answer: PromiseSettledResult<unknown>): string | undefined {
  if (answer.status === 'fulfilled') return undefined;
  const error: unknown = answer.reason;
  if (!(error instanceof StoreError && error.isRefusal)) throw error;
  if (!FORBIDDEN.test(error.message)) {
    // The engine is full, for example, or has no such database.
    if (command === 'SET' || command === 'SELECT') throw error;
    return undefined;
  }
  if (/access .*\bchannels?\b/.test(error.message)) return `&${PREFIX}`;
  if (/access .*\bkeys?\b/.test(error.message)) return `~${PREFIX}`;
  return `+${command.toLowerCase()}`;
}

/**
 * Tries everything that the package needs.
 * @param subscriber the connection for subscriptions
 * @returns the rights that the user lacks, in the syntax of an ACL, such as `+info`
 * @throws StoreError if it does not answer
 */
export async function findForbidden(
  commands: Commands,
  subscriber: Commands,
  trial: Trial,
): Promise<string[]> {
  // It may have been opened just for this.
  await subscriber.ready();
  const { topic } = trial;
  const used = uses(trial);
  const answers = await Promise.allSettled([
    ...used.map((command) => commands.call(...command)),
    subscriber.call('SUBSCRIBE', topic),
    subscriber.call('UNSUBSCRIBE', topic),
  ]);
  const names = [...used.map(([name]) => name), 'SUBSCRIBE', 'UNSUBSCRIBE'];
  const found = answers.flatMap((answer, index) => missing(names[index] ?? '', answer) ?? []);
  return [...new Set(found)];
}
