import { LONGEST_LEASE } from '../../settling';
import { INCARNATION, script, SLOT } from './script';

/**
 * A member's beat; `applyBeat` of the store in memory, which the tests use, is the same in TypeScript. It uses no
 * clock of the engine: who is dead is what a member has seen by its own clock, since after a failover the engine's
 * clock is another one.
 *
 * KEYS: state, members, slots, the mark of a member that has left. ARGV: the request as JSON.
 */
export const BEAT = script(`
${INCARNATION}
${SLOT}
local state, members, slots, left = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local request = cjson.decode(ARGV[1])
local me = request.member

redis.call('HSETNX', state, 'generation', request.generation)
local name = incarnation(state)
if request.settled == name then redis.call('HSET', state, 'settled', name) end
local settled = isSettled(state)

-- A beat that was held up on its way must neither undo a later one nor bring back a member that has left.
local known = redis.call('HGET', members, me)
if redis.call('EXISTS', left) == 1 then return false end
if (tonumber(string.match(known or '', '^%d+')) or 0) >= request.beat then return false end
redis.call('HSET', members, me, string.format('%d ', request.beat) .. request.claims ..
  (request.lease and string.format(' %d', request.lease) or ''))

-- Epochs go on from the highest that anybody knows, though the store may have been set back.
local top = tonumber(redis.call('HGET', state, 'top') or '') or 0
for _, held in ipairs(request.holdings) do top = math.max(top, held[2]) end

local changed = {}
local owners, epochs = {}, {}
local raw = redis.call('HGETALL', slots)
for i = 1, #raw, 2 do
  local slot = tonumber(raw[i])
  if slot then epochs[slot], owners[slot] = readSlot(raw[i + 1]) end
end
local function set(slot, epoch, owner)
  epochs[slot], owners[slot] = epoch, owner
  changed[#changed + 1] = slot
  changed[#changed + 1] = string.format('%d ', epoch) .. owner
end

for _, held in ipairs(request.release) do
  if owners[held[1]] == me and epochs[held[1]] == held[2] then set(held[1], held[2], '') end
end

if settled then
  for _, dead in ipairs(request.dead) do
    local beat = string.match(redis.call('HGET', members, dead[1]) or '', '^%d+')
    if dead[1] ~= me and tonumber(beat) == dead[2] then redis.call('HDEL', members, dead[1]) end
  end
end

-- Anything but a record is removed, or it would count as a member forever; with a longer lease than there is, it
-- would take devices that nobody serves. A later version may take shares of more pools.
local alive, list, claimants = {}, {}, { d = {}, s = {}, q = {} }
local records = redis.call('HGETALL', members)
for i = 1, #records, 2 do
  local name, record = records[i], records[i + 1]
  local lease = tonumber(string.match(record, '^%d+ %a* (%d+)$') or '0')
  if string.find(record, '^%d+ ') and lease <= ${LONGEST_LEASE} then
    alive[name] = true
    list[#list + 1] = name
    list[#list + 1] = record
    for pool, names in pairs(claimants) do
      if string.find(record, '^%d+ %a*' .. pool) then names[#names + 1] = name end
    end
  else
    redis.call('HDEL', members, name)
  end
end

-- Shares differ by one slot at most: as many members as there are slots left over may hold one more. A slot that no
-- living member holds is claimed.
-- Devices that no member listens to are shared by those that only follow some.
local surplus = {}
for index, pool in ipairs({ #claimants.d == 0 and 's' or 'd', 'q' }) do
  local first, stop = request.pools[index][1], request.pools[index][2]
  local held = {}
  for slot = first, stop - 1 do
    local owner = owners[slot] or ''
    held[owner] = (held[owner] or 0) + 1
  end
  local share, mine = 0, held[me] or 0
  if alive[me] and string.find(request.claims, pool) then
    local names = claimants[pool]
    share = math.floor((stop - first) / #names)
    local larger = (stop - first) % #names
    for _, name in ipairs(names) do
      local isBefore = mine <= share or name < me
      if name ~= me and (held[name] or 0) > share and isBefore then larger = larger - 1 end
    end
    if larger > 0 then share = share + 1 end
  end
  if settled then
    for slot = first, stop - 1 do
      if mine >= share then break end
      local owner = owners[slot] or ''
      if owner == '' or not alive[owner] then
        top = top + 1
        set(slot, top, me)
        mine = mine + 1
      end
    end
  end
  surplus[index] = settled and math.max(0, mine - share) or 0
end
redis.call('HSET', state, 'top', string.format('%d', top))
if #changed > 0 then redis.call('HSET', slots, unpack(changed)) end

local mine, behind = {}, {}
for slot, owner in pairs(owners) do
  if owner == me then mine[#mine + 1] = string.format('%d:%d', slot, epochs[slot]) end
end
if not settled then
  for _, held in ipairs(request.holdings) do
    if (epochs[held[1]] or 0) < held[2] then behind[#behind + 1] = string.format('%d', held[1]) end
  end
end
return { name, settled and 1 or 0, table.concat(mine, ','), table.concat(behind, ','),
  surplus[1], surplus[2], list }
`);
