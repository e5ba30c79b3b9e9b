import { INCARNATION, PUT, script, SLOT } from './script';

/**
 * Puts a slot and its positions back into a store that went back in time, in one step: a slot without its positions
 * would lose uploads if its owner died in between. Once the store has settled it is too late, since the slot may be
 * another's.
 *
 * KEYS: state, slots, positions. ARGV: member, slot, epoch, then chip number, sequence and position of each entry.
 */
export const RESTORE = script(`
${INCARNATION}
${SLOT}
${PUT}
local state, slots, positions = KEYS[1], KEYS[2], KEYS[3]
local me, slot, epoch = ARGV[1], ARGV[2], tonumber(ARGV[3])
local known, owner = readSlot(redis.call('HGET', slots, slot))
if known ~= epoch or owner ~= me then
  if isSettled(state) or known >= epoch then return 0 end
  redis.call('HSET', slots, slot, ARGV[3] .. ' ' .. me)
  local top = tonumber(redis.call('HGET', state, 'top') or '') or 0
  redis.call('HSET', state, 'top', string.format('%d', math.max(top, epoch)))
end
for i = 4, #ARGV, 3 do
  local chipid, sequence = ARGV[i], ARGV[i + 1]
  if isNew(positions, chipid, epoch, sequence) then put(positions, chipid, epoch, sequence, ARGV[i + 2]) end
end
return 1
`);
