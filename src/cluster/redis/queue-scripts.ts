import { script } from './scripts';

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

/**
 * How many entries streams have: the sum of all but the first, and the first.
 *
 * KEYS: the dead letters, then the streams of the queue.
 */
export const LENGTHS = script(`
local length = 0
for i = 2, #KEYS do length = length + redis.call('XLEN', KEYS[i]) end
return { length, redis.call('XLEN', KEYS[1]) }
`);
