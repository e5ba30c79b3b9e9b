import { INCARNATION, script } from './script';

/**
 * Locks a key, again if it is the holder's own. No new lock is granted while the store may have lost those of others.
 *
 * KEYS: state, lock. ARGV: token, ms, 1 if the holder puts it back.
 */
export const LOCK = script(`
${INCARNATION}
if ARGV[3] ~= '1' and not isSettled(KEYS[1]) then return 'unsettled' end
local held = redis.call('GET', KEYS[2])
if held and held ~= ARGV[1] then return 'busy' end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 'locked'
`);

/**
 * Ends a lock, unless it has expired and another holder has it by now.
 *
 * KEYS: lock. ARGV: token.
 */
export const UNLOCK = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);
