import { createHash } from 'node:crypto';

/** A script that the engine runs whole, with nothing in between. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

const script = (text: string): Script => ({
  text,
  sha: createHash('sha1').update(text).digest('hex'),
});

export const SHARES = 64;

/** What is kept, and how. A process that does not know it joins nothing. */
export const FORMAT = 1;

/**
 * The names of an application's keys and channels. All have one hash tag, the part in braces; none has a space, or a character that means
 * something in a pattern, so that they can stand in a rule for a user as they are.
 */
export const keysOf = (application: string) => {
  const prefix = `{dc:${application.replaceAll(/[^\w.:/-]/g, '_')}}:`;
  return {
    /** Of the engine's generation, and what is known of the whole application. */
    meta: `${prefix}meta`,
    members: `${prefix}members`,
    shares: `${prefix}shares`,
    /** All state of a share's devices. */
    share: (share: number): string => `${prefix}s:${share}`,
    /** Channel on which all members are asked to beat at once. */
    all: `${prefix}all`,
    /** On which a member gets calls and answers. */
    to: (member: string): string => `${prefix}to:${member}`,
    /** With which the user's rights are tried. */
    trial: `${prefix}trial`,
  };
};

export type Keys = ReturnType<typeof keysOf>;

export interface Beat {
  readonly member: string;
  /** Rises with each beat of the member. */
  readonly number: number;
  /** Milliseconds. */
  readonly lease: number;
  /** Whether it has something to do with shares of its own. */
  readonly wants: boolean;
  /** As JSON: what must be the same in all members. One that has others gets no share while a member has these. */
  readonly settings: string;
  readonly held: readonly (readonly [share: number, epoch: number])[];
  /** The highest epoch that the process has ever seen. */
  readonly top: number;
  readonly dead: readonly (readonly [member: string, number: number])[];
  /** The generation that has been seen for two leases. */
  readonly settled?: string | undefined;
  /** The next generation, if one begins. */
  readonly random: string;
  /** Whether it may be given shares. */
  readonly takes: boolean;
  /** It is no member any more. */
  readonly leave: boolean;
}

export interface BeatAnswer {
  readonly generation: string;
  readonly settled: boolean;
  readonly quota: number;
  readonly members: Readonly<
    Record<string, readonly [number: number, lease: number, wants: 0 | 1, agrees: 0 | 1]>
  >;
  /** The epoch and the owner, if there is one, of each share that was ever given. */
  readonly shares: Readonly<Record<string, readonly [epoch: number, member: string]>>;
  /** The settings of the other members, if this one's are not the same. */
  readonly settings?: string;
  /** The engine's clock, in ms. */
  readonly time: number;
  /** Replicas of the engine that are connected. */
  readonly replicas: number;
}

/** The first words of what BEAT refuses, other than a beat that was held up on its way. */
export const REFUSED = { format: 'FORMAT', cluster: 'CLUSTERMODE', late: 'LATE' } as const;

/** Keys: meta, members, shares. Arguments: a {@link Beat}, the channel of all. Answers with a {@link BeatAnswer}. */
export const BEAT = script(`
local meta, members, shares = KEYS[1], KEYS[2], KEYS[3]
local beat = cjson.decode(ARGV[1])
local me = beat.member
local info = redis.call('INFO', 'server')
if info:find('redis_mode:cluster', 1, true) then return redis.error_reply('${REFUSED.cluster}') end
local format = redis.call('HGET', meta, 'format')
if format and format ~= '${FORMAT}' then return redis.error_reply('${REFUSED.format} ' .. format) end

local alive, news = {}, false
local found = redis.call('HGETALL', members)
for i = 1, #found, 2 do
  local number, lease, wants, agrees = found[i + 1]:match('^(%d+) (%d+) ([01]) ([01])$')
  if number then
    alive[found[i]] = {tonumber(number), tonumber(lease), tonumber(wants), tonumber(agrees)}
  end
end
if alive[me] and alive[me][1] >= beat.number then return redis.error_reply('${REFUSED.late}') end

local run = info:match('run_id:(%w+)')
local generation = redis.call('HGET', meta, 'generation')
if not generation or redis.call('HGET', meta, 'run') ~= run then
  generation = beat.random
  redis.call('HSET', meta, 'format', '${FORMAT}', 'generation', generation, 'run', run)
  redis.call('HDEL', meta, 'settled')
end
local settled = redis.call('HGET', meta, 'settled') == generation
if not settled and beat.settled == generation then
  redis.call('HSET', meta, 'settled', generation)
  settled, news = true, true
end

if beat.leave then
  alive[me] = nil
  redis.call('HDEL', members, me)
  news = true
else
  if not alive[me] then news = true end
  alive[me] = {beat.number, beat.lease, beat.wants and 1 or 0, 1}
end
if settled then
  for _, dead in ipairs(beat.dead) do
    if dead[1] ~= me and alive[dead[1]] and alive[dead[1]][1] == dead[2] then
      alive[dead[1]] = nil
      redis.call('HDEL', members, dead[1])
      news = true
    end
  end
end

local records, top = {}, beat.top
local function put(share, epoch, member)
  records[share] = {epoch, member}
  redis.call('HSET', shares, share, string.format('%d %s', epoch, member))
end
found = redis.call('HGETALL', shares)
for i = 1, #found, 2 do
  local epoch, member = found[i + 1]:match('^(%d+) (.*)$')
  if epoch then
    records[found[i]] = {tonumber(epoch), member}
    top = math.max(top, tonumber(epoch))
  end
end
local held = {}
for _, each in ipairs(beat.held) do
  local share, epoch = string.format('%d', each[1]), each[2]
  local record = records[share]
  if not settled and (not record or record[1] < epoch) then put(share, epoch, me) end
  held[share] = epoch
end
local owned = {}
for share, record in pairs(records) do
  if record[2] == me and (held[share] ~= record[1] or beat.leave) then
    put(share, record[1], '')
    news = true
  else
    owned[record[2]] = (owned[record[2]] or 0) + 1
  end
end
local mine = owned[me] or 0

local settings = redis.call('HGET', meta, 'settings')
if not beat.leave then
  local agrees = mine > 0 or settings == beat.settings
  if not agrees then
    agrees = true
    for member, each in pairs(alive) do
      if member ~= me and each[4] == 1 then agrees = false end
    end
  end
  if agrees and settings ~= beat.settings then
    settings = beat.settings
    redis.call('HSET', meta, 'settings', settings)
  end
  alive[me][4] = agrees and 1 or 0
  redis.call('HSET', members, me, string.format('%d %d %d %d', unpack(alive[me])))
end

local wanting, all = {}, {}
for member, each in pairs(alive) do
  if each[4] == 1 then
    all[#all + 1] = member
    if each[3] == 1 then wanting[#wanting + 1] = member end
  end
end
if #wanting == 0 then wanting = all end
local quota, least = 0, math.floor(${SHARES} / #wanting)
-- Who has one more keeps it, whoever comes and goes.
table.sort(wanting, function(a, b)
  local has_a, has_b = (owned[a] or 0) > least, (owned[b] or 0) > least
  if has_a == has_b then return a < b end
  return has_a
end)
for place, member in ipairs(wanting) do
  if member == me then quota = place <= ${SHARES} % #wanting and least + 1 or least end
end
if settled and beat.takes and alive[me] and alive[me][4] == 1 then
  for number = 0, ${SHARES - 1} do
    local share = tostring(number)
    local record = records[share]
    local is_free = not record or record[2] == '' or not alive[record[2]]
    if is_free and record and record[2] ~= '' then
      put(share, record[1], '')
      news = true
    end
    if is_free and mine < quota then
      top = top + 1
      mine = mine + 1
      put(share, top, me)
    end
  end
end

if news then redis.call('PUBLISH', ARGV[2], 'beat') end
local time = redis.call('TIME')
return cjson.encode({
  generation = generation, settled = settled, quota = quota, members = alive, shares = records,
  settings = settings ~= beat.settings and settings or nil,
  time = time[1] * 1000 + math.floor(time[2] / 1000),
  replicas = tonumber(redis.call('INFO', 'replication'):match('connected_slaves:(%d+)') or 0),
})
`);

/** Keys: shares, the share's own. Arguments: share, epoch, member. Answers with all of it; nil unless that is its owner. */
export const LOAD = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] .. ' ' .. ARGV[3] then return false end
return redis.call('HGETALL', KEYS[2])
`);

/**
 * Writes entries of a share, all or none. Keys: shares, the share's own. Arguments: share, epoch, member, number of the write,
 * 1 if all is written anew, pairs of key and text, where an empty text removes the entry. Answers with 1, 0 unless that is its owner, or
 * 2, without writing, if what was written before is gone: an engine that is full may evict a share alone.
 * A write that comes late, from an old connection, changes nothing.
 */
export const WRITE = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] .. ' ' .. ARGV[3] then return 0 end
local epoch, last = (redis.call('HGET', KEYS[2], '~') or ''):match('^(%d+) (%d+)$')
if epoch == ARGV[2] and tonumber(last) >= tonumber(ARGV[4]) then return 1 end
if ARGV[5] == '1' then redis.call('DEL', KEYS[2])
elseif not epoch and tonumber(ARGV[4]) > 1 then return 2 end
redis.call('HSET', KEYS[2], '~', ARGV[2] .. ' ' .. ARGV[4])
for i = 6, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[2], ARGV[i])
  else
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
end
return 1
`);
