import { script } from './script';

/**
 * Ends a membership. Its slots need no change: a slot that no living member holds is free.
 *
 * KEYS: members, the mark of a member that has left. ARGV: member, how long the mark is kept, in ms.
 */
export const LEAVE = script(`
redis.call('HDEL', KEYS[1], ARGV[1])
-- Longer than any beat of it can still be on its way.
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
return 1
`);
