import { Redis } from 'ioredis';

/** The answer of an engine to one command, on a separate connection: its texts and numbers, a line each. */
export async function redisCli(
  at: number | { port: number; password: string },
  command: string,
  ...args: string[]
): Promise<string> {
  const { port, ...login } = typeof at === 'number' ? { port: at } : at;
  const redis = new Redis({ host: '127.0.0.1', port, ...login, retryStrategy: null });
  // The answer of the command, or its error, is what counts.
  redis.on('error', () => undefined);
  try {
    const answer = [await redis.call(command, ...args)].flat(Infinity);
    return answer.map((each) => `${String(each)}\n`).join('');
  } finally {
    redis.disconnect();
  }
}
