import { StoreError } from '../store';
import type { Commands } from './commands';
import { script } from './scripts/script';

/** What the keys and the channels of all applications begin with, as an ACL has it. */
const PREFIX = '{device-cloud:*';

/** How engines say that the user, or nobody, may run a command: later versions name it, earlier ones do not. */
const FORBIDDEN = /NOPERM|user executing the script can't|unknown command/i;

const NOTHING = script('return 1');

/** What the rights are tried with. */
export interface Trial {
  /** A key and a channel of the application that are used for nothing else. */
  readonly key: string;
  readonly topic: string;
  readonly database: number;
}

type Command = readonly [name: string, ...args: (string | number)[]];

/**
 * A harmless use of each command that the package needs, inside of scripts or outside. Those after SET find a text
 * where they need something else.
 */
const uses = ({ key, topic, database }: Trial): readonly Command[] => [
  // Who may not select one works in database 0, without an error.
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
  ['XADD', key, '*', '', ''],
  ['XRANGE', key, '-', '+'],
  ['XDEL', key, '0-1'],
  ['PUBLISH', topic, ''],
  ['DEL', key],
];

/** What an ACL would have to have in addition, undefined if a command is allowed. */
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
 * @returns what the engine forbids, in the words of its ACL, such as `+info`
 * @throws StoreError if it does not answer
 */
export async function findForbidden(
  commands: Commands,
  subscriber: Commands,
  trial: Trial,
): Promise<string[]> {
  // It may have been opened for this.
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
