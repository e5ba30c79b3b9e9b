import { PUT, script, SLOT } from './script';

/**
 * Writes positions, each only while its slot is held by the writer under its epoch. An older epoch in the store
 * says nothing against the writer: the store was set back ("behind"). A newer one does ("fenced"). An upload
 * is appended only with a position that is new, so that a write that is repeated appends it once; and it is appended
 * first, since an engine that refuses a command keeps what a script has done before it.
 *
 * KEYS: slots, positions, then the streams. ARGV: member, then of each entry slot, epoch, chip number, sequence,
 * position, the number of its stream among the keys or 0, the topic of the stream, and the upload.
 */
export const SAVE = script(`
${SLOT}
${PUT}
local slots, positions, me = KEYS[1], KEYS[2], ARGV[1]
local outcomes, topics, known = {}, {}, {}
for i = 2, #ARGV, 8 do
  local slot, epoch = ARGV[i], tonumber(ARGV[i + 1])
  known[slot] = known[slot] or { readSlot(redis.call('HGET', slots, slot)) }
  local held, owner = known[slot][1], known[slot][2]
  local outcome = 'saved'
  if held ~= epoch or owner ~= me then
    outcome = held < epoch and 'behind' or 'fenced'
  elseif isNew(positions, ARGV[i + 2], epoch, ARGV[i + 3]) then
    if ARGV[i + 5] ~= '0' then
      redis.call('XADD', KEYS[2 + tonumber(ARGV[i + 5])], '*', 'chipid', ARGV[i + 2], 'upload', ARGV[i + 7])
      topics[ARGV[i + 6]] = true
    end
    put(positions, ARGV[i + 2], epoch, ARGV[i + 3], ARGV[i + 4])
  end
  outcomes[#outcomes + 1] = outcome
end
for topic in pairs(topics) do redis.call('PUBLISH', topic, '') end
return outcomes
`);
