import { PUT, script, SLOT } from './script';

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
