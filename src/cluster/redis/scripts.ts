import { createHash } from 'node:crypto';
import { LONGEST_LEASE } from '../store';

/** A script for the engine, and the hash by which it knows it: everything in a script happens in one step. */
export type Script = Readonly<Record<'text' | 'sha', string>>;

export const script = (text: string): Script => ({
  text,
  sha: createHash('sha1').update(text).digest('hex'),
});

/**
 * The incarnation of the store: a name that is lost with its content, and the engine's run, which is another one
 * after a restart and on each replica. Both are read in the script itself: between two commands the connection may
 * have moved to another engine.
 */
export const INCARNATION = `
local function incarnation(state)
  local generation = redis.call('HGET', state, 'generation')
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  return generation and (generation .. '/' .. run)
end

local function isSettled(state)
  local name = incarnation(state)
  return name and redis.call('HGET', state, 'settled') == name
end
`;

/** A slot is stored as "epoch owner", without an owner once it was released; anything else has no owner. */
const SLOT = `
local function readSlot(value)
  local epoch, owner = string.match(value or '', '^(%d+) (.*)$')
  return tonumber(epoch) or 0, owner or ''
end
`;

/**
 * A position is kept as "epoch sequence position", so that a write that comes late is recognised. Whose the device is,
 * its slot alone says: an epoch above that of the slot is left from before the slots were lost.
 */
const PUT = `
local function isNew(positions, chipid, epoch, sequence)
  local e, s = string.match(redis.call('HGET', positions, chipid) or '', '^(%d+) (%d+) ')
  return tonumber(e) ~= tonumber(epoch) or tonumber(s) < tonumber(sequence)
end

local function put(positions, chipid, epoch, sequence, position)
  redis.call('HSET', positions, chipid,
    string.format('%d %d ', tonumber(epoch), tonumber(sequence)) .. position)
end
`;

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
redis.call('HSET', members, me,
  string.format('%d ', request.beat) .. request.claims .. string.format(' %d', request.lease))

-- Epochs go on from the highest that anybody knows, though the store may have been set back.
local top = tonumber(redis.call('HGET', state, 'top') or '') or 0
for _, held in ipairs(request.holdings) do top = math.max(top, held.epoch) end

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
  if owners[held.slot] == me and epochs[held.slot] == held.epoch then set(held.slot, held.epoch, '') end
end

if settled then
  for _, dead in ipairs(request.dead) do
    local beat = string.match(redis.call('HGET', members, dead.member) or '', '^%d+')
    if dead.member ~= me and tonumber(beat) == dead.beat then redis.call('HDEL', members, dead.member) end
  end
end

-- Anything but a record is removed, or it would count as a member forever; with a longer lease than there is, it
-- would take devices that nobody serves. A later version may take shares of more pools.
local alive, all, claimants = {}, {}, { d = {}, s = {}, q = {} }
local records = redis.call('HGETALL', members)
for i = 1, #records, 2 do
  local name, record = records[i], records[i + 1]
  local beat, lease = string.match(record, '^(%d+) %a* (%d+)$')
  lease = tonumber(lease)
  if lease and lease <= ${LONGEST_LEASE} and #beat <= 15 then
    alive[name] = true
    all[#all + 1] = { member = name, beat = tonumber(beat), lease = lease }
    for pool, names in pairs(claimants) do
      if string.find(record, '^%d+ %a*' .. pool) then names[#names + 1] = name end
    end
  else
    redis.call('HDEL', members, name)
  end
end

-- Shares differ by one slot at most: as many members as there are slots left over may hold one more. A slot that no
-- living member holds is claimed.
-- Devices that no member listens to are shared by the members that only follow some.
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
  if owner == me then mine[#mine + 1] = { slot = slot, epoch = epochs[slot] } end
end
if not settled then
  for _, held in ipairs(request.holdings) do
    if (epochs[held.slot] or 0) < held.epoch then behind[#behind + 1] = held.slot end
  end
end
return cjson.encode({ incarnation = name, isSettled = settled and true or false, mine = mine, behind = behind,
  members = all, surplus = { devices = surplus[1], queue = surplus[2] } })
`);

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

/**
 * Writes positions, each only while its slot is held by the writer under its epoch. An older epoch in the store
 * says nothing against the writer: the store was set back ("behind"). A newer one does ("fenced"). An upload
 * is appended only with a position that is new, so that a write that is repeated appends it once; and it is appended
 * first, since an engine that refuses a command keeps what a script has done before it.
 *
 * KEYS: slots, positions, then of each entry with an upload its stream, the stream's devices and the device's ids. ARGV:
 * member, then of each entry slot, epoch, chip number, sequence, position, the topic of the stream or nothing, and the
 * upload.
 */
export const SAVE = script(`
${SLOT}
${PUT}
local slots, positions, me = KEYS[1], KEYS[2], ARGV[1]
local outcomes, topics, known, key = {}, {}, {}, 3
for i = 2, #ARGV, 7 do
  local slot, epoch, chipid, topic = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 5]
  known[slot] = known[slot] or { readSlot(redis.call('HGET', slots, slot)) }
  local held, owner = known[slot][1], known[slot][2]
  local outcome = 'saved'
  if held ~= epoch or owner ~= me then
    outcome = held < epoch and 'behind' or 'fenced'
  elseif isNew(positions, chipid, epoch, ARGV[i + 3]) then
    if topic ~= '' then
      local id = redis.call('XADD', KEYS[key], '*', 'chipid', chipid, 'upload', ARGV[i + 6])
      redis.call('SADD', KEYS[key + 1], chipid)
      redis.call('RPUSH', KEYS[key + 2], id)
      topics[topic] = (topics[topic] and topics[topic] .. ',' or '') .. chipid
    end
    put(positions, chipid, epoch, ARGV[i + 3], ARGV[i + 4])
  end
  if topic ~= '' then key = key + 3 end
  outcomes[#outcomes + 1] = outcome
end
for topic, chipids in pairs(topics) do redis.call('PUBLISH', topic, chipids) end
return outcomes
`);

/**
 * Locks a key, again if it is the holder's own. No new lock is granted while the store may have lost the locks of others.
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

/*
 * The uploads of all devices of a partition are in its stream. A list of each device has the ids of its own, so that
 * the first one is found without a look at the others, and a set has the devices whose list is not empty. How often
 * the first upload of a device was claimed is kept as "id count claim".
 */

/** The most dead letters, and their bytes. Older ones are removed, or they would fill the engine in the end. */
const DEAD = { letters: 10_000, bytes: 64 * 1024 * 1024 };

const ATTEMPTS = `
local function attemptsOf(attempts, chipid)
  return string.match(redis.call('HGET', attempts, chipid) or '', '^(%S+) (%d+) (.*)$')
end
`;

/**
 * Claims the first upload of a device, which counts as an attempt to handle it, unless it was so often before that it
 * becomes a dead letter. A large one is read separately, since this would have to be repeated if it took too long.
 *
 * KEYS: stream, devices, the device's ids, attempts, dead letters, the size of these. ARGV: chip number, claim, most
 * attempts, most bytes.
 */
export const CLAIM = script(`
${ATTEMPTS}
local stream, devices, ids, attempts, dead, size = unpack(KEYS)
local chipid, claim, most, inline = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local function bury(upload, count)
  local bytes = redis.call('XLEN', dead) > 0 and tonumber(redis.call('GET', size) or '') or 0
  redis.call('XADD', dead, '*', 'chipid', chipid, 'upload', upload, 'attempts', count)
  bytes = bytes + #upload
  while redis.call('XLEN', dead) > (bytes > ${DEAD.bytes} and 1 or ${DEAD.letters}) do
    local oldest = redis.call('XRANGE', dead, '-', '+', 'COUNT', 1)[1]
    redis.call('XDEL', dead, oldest[1])
    bytes = bytes - #(oldest[2][4] or '')
  end
  redis.call('SET', size, string.format('%d', bytes))
end

local buried = 0
while true do
  local id = redis.call('LINDEX', ids, 0)
  if not id then
    redis.call('SREM', devices, chipid)
    redis.call('HDEL', attempts, chipid)
    return { buried }
  end
  local entry = redis.call('XRANGE', stream, id, id)[1]
  if entry then
    local upload = entry[2][4]
    local last, count, by = attemptsOf(attempts, chipid)
    count = last == id and tonumber(count) or 0
    if last ~= id or by ~= claim then count = count + 1 end
    if count <= most then
      redis.call('HSET', attempts, chipid, string.format('%s %d ', id, count) .. claim)
      return { buried, id, count, #upload, #upload <= inline and upload or '' }
    end
    bury(upload, string.format('%d', count - 1))
    redis.call('XDEL', stream, id)
    buried = 1
  end
  redis.call('LPOP', ids)
end
`);

/**
 * Removes an upload.
 *
 * KEYS: stream, devices, the device's ids, attempts. ARGV: chip number, id.
 */
export const ACKNOWLEDGE = script(`
${ATTEMPTS}
local stream, devices, ids, attempts = unpack(KEYS)
local chipid, id = ARGV[1], ARGV[2]
if redis.call('XDEL', stream, id) == 0 then return -1 end
redis.call('LREM', ids, 1, id)
if attemptsOf(attempts, chipid) == id then redis.call('HDEL', attempts, chipid) end
local left = redis.call('LLEN', ids)
if left == 0 then redis.call('SREM', devices, chipid) end
return left
`);

/**
 * The devices that have uploads, each followed by how often its first one was claimed.
 *
 * KEYS: attempts, then the devices of each partition. ARGV: the most devices of a partition.
 */
export const WAITING = script(`
${ATTEMPTS}
local found = {}
for i = 2, #KEYS do
  for _, chipid in ipairs(redis.call('SRANDMEMBER', KEYS[i], ARGV[1])) do
    local _, count = attemptsOf(KEYS[1], chipid)
    found[#found + 1] = chipid
    found[#found + 1] = count or '0'
  end
end
return found
`);
