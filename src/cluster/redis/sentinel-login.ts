/** What is used of a connection of `ioredis` that Sentinels lead to. */
interface SentinelConnection {
  readonly options: object;
  on(event: 'sentinelError', listener: (error: Error) => void): unknown;
}

/** A Sentinel's error without a password, or with a wrong user or password. */
const REFUSED = /NOAUTH|WRONGPASS/;

/**
 * Sentinels are asked without a password first. One that requires it is sent the engine's, first with the user and then
 * without, since `requirepass` has no users.
 */
export function offerLogin(
  redis: SentinelConnection,
  user: string | undefined,
  password: string | undefined,
): void {
  if (password === undefined) return;
  const logins = [['', ''], ...(user === undefined ? [] : [[user, password]]), ['', password]];
  let tried = 0;
  redis.on('sentinelError', ({ message }) => {
    if (!REFUSED.test(message)) return;
    const [sentinelUsername = '', sentinelPassword = ''] = logins[++tried % logins.length] ?? [];
    // The client reads its options again for each Sentinel.
    Object.assign(redis.options, { sentinelUsername, sentinelPassword });
  });
}
