import type { MarkOutcome } from '../../state/waiting-store';
import { LEFT, StoreError, type CallStore, type StoredCall } from '../store';
import type { Commands } from './commands';
import { INCARNATION, script } from './scripts';

/*
 * The calls of all members whose commands wait. Each has three fields: "order time text", what only its member needs, and its
 * member. A command has a mark once it has begun or ended. And of each device the calls are listed whose commands have not ended.
 */

/** Of a device: `[id, 1 if it waits for the list, too, 1 if it has begun, order]` of each call, as JSON. */
const LINE = `
local function readLine(waits, chipid)
  local text = redis.call('HGET', waits, chipid)
  return text and cjson.decode(text) or {}
end

local function writeLine(waits, chipid, line)
  if #line == 0 then redis.call('HDEL', waits, chipid)
  else redis.call('HSET', waits, chipid, cjson.encode(line)) end
end

local function leaveLine(waits, chipid, id)
  local line = readLine(waits, chipid)
  for i, each in ipairs(line) do
    if each[1] == id then
      table.remove(line, i)
      writeLine(waits, chipid, line)
      return
    end
  end
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * Adds a call. One that is put back keeps its order and its age.
 *
 * KEYS: state, calls, whats, callers, marks, waits, left. ARGV: id, member, text, what, 1 if it waits for the list, most commands of
 * a device, order or 0, age, then chip number and mark of each device.
 */
const ADD = script(`
${LINE}
local state, calls, whats, callers, marks, waits, left = unpack(KEYS)
if redis.call('EXISTS', left) == 1 then return { 0 } end
local id, isOnline, most, order = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local known = redis.call('HGET', calls, id)
if known then
  local isMine = redis.call('HGET', callers, id) == ARGV[2]
  return { isMine and tonumber(string.match(known, '^%d+')) or 0 }
end
local top = tonumber(redis.call('HGET', state, 'calls') or '') or 0
if order == 0 then order = top + 1 end
redis.call('HSET', state, 'calls', string.format('%d', math.max(top, order)))
redis.call('HSET', calls, id, string.format('%d %d ', order, clock() - ARGV[8]) .. ARGV[3])
redis.call('HSET', whats, id, ARGV[4])
redis.call('HSET', callers, id, ARGV[2])
local answer = { order }
for i = 9, #ARGV, 2 do
  local chipid, mark = ARGV[i], ARGV[i + 1]
  if mark ~= '' then redis.call('HSET', marks, id .. '/' .. chipid, mark) end
  if mark == '' or mark == '"begun"' then
    local line = readLine(waits, chipid)
    if mark == '' and #line >= most then answer[#answer + 1] = chipid
    else
      local at = #line + 1
      while at > 1 and line[at - 1][4] > order do at = at - 1 end
      table.insert(line, at, { id, isOnline, mark == '' and 0 or 1, order })
      writeLine(waits, chipid, line)
    end
  end
end
return answer
`);

/**
 * Marks a command. While the store may have forgotten calls, one that it does not know is not another member's.
 *
 * KEYS: callers, marks, waits, state. ARGV: member, id, chip number, mark.
 */
const MARK = script(`
${INCARNATION}
${LINE}
local callers, marks, waits, state = unpack(KEYS)
local me, id, chipid, mark = unpack(ARGV)
local isCancelled = mark == '"cancelled"'
local caller = redis.call('HGET', callers, id)
if not caller and not isSettled(state) then return 'unsettled' end
if not caller or (not isCancelled and caller ~= me) then return 'moved' end
local field = id .. '/' .. chipid
local known = redis.call('HGET', marks, field)
if known and isCancelled then return 'late' end
if known == '"cancelled"' and mark == '"begun"' then return 'cancelled' end
redis.call('HSET', marks, field, mark)
if mark ~= '"begun"' then
  leaveLine(waits, chipid, id)
  return 'written'
end
local line = readLine(waits, chipid)
for _, each in ipairs(line) do if each[1] == id then each[3] = 1 end end
writeLine(waits, chipid, line)
return 'written'
`);

/**
 * Removes a call of a member. A command to add it may still be on its way.
 *
 * KEYS: calls, whats, callers, marks, waits, left. ARGV: member, id, then its chip numbers.
 */
const REMOVE = script(`
${LINE}
local calls, whats, callers, marks, waits, left = unpack(KEYS)
local id = ARGV[2]
local caller = redis.call('HGET', callers, id)
if caller and caller ~= ARGV[1] then return 0 end
redis.call('SET', left, '1', 'PX', ${LEFT})
if not caller then return 0 end
for _, key in ipairs({ calls, whats, callers }) do redis.call('HDEL', key, id) end
for i = 3, #ARGV do
  redis.call('HDEL', marks, id .. '/' .. ARGV[i])
  leaveLine(waits, ARGV[i], id)
end
return 1
`);

/**
 * The calls of a member that have not begun and whose turn it is at a device, in their order. Before them is a number: -1 if no
 * other member has a call there, 1 if the first call of another member is under way, otherwise 0. While the store may have
 * forgotten calls, one is taken to be under way.
 *
 * KEYS: state, callers, waits. ARGV: member, chip number, 1 if only commands count that wait for the list.
 */
const TURN = script(`
${INCARNATION}
${LINE}
if not isSettled(KEYS[1]) then return { 1 } end
local answer = { -1 }
for _, each in ipairs(readLine(KEYS[3], ARGV[2])) do
  if redis.call('HGET', KEYS[2], each[1]) == ARGV[1] then
    if each[3] == 0 then answer[#answer + 1] = each[1] end
  elseif ARGV[3] ~= '1' or each[2] == 1 then
    answer[1] = each[3]
    break
  end
end
return answer
`);

/**
 * Gives a member the calls of members that are gone. Not while the store may have forgotten members that live.
 *
 * KEYS: state, members, callers. ARGV: member, then ids.
 */
const ADOPT = script(`
${INCARNATION}
local answer = {}
if not isSettled(KEYS[1]) then return answer end
for i = 2, #ARGV do
  local caller = redis.call('HGET', KEYS[3], ARGV[i])
  if caller and caller ~= ARGV[1] and not redis.call('HGET', KEYS[2], caller) then
    redis.call('HSET', KEYS[3], ARGV[i], ARGV[1])
    answer[#answer + 1] = ARGV[i]
  end
end
return answer
`);

/** About the most bytes that are read at a time. */
const MUCH = 4 * 1024 * 1024;

/** The keys that waiting commands use. `left` is of a call that has ended, and may be added by a command that comes late. */
type CallKeys = Readonly<
  Record<'state' | 'members' | 'calls' | 'whats' | 'callers' | 'marks' | 'waits', string>
> & { readonly left: (id: string) => string };

/** Keeps the calls whose commands wait in the engine. */
export function redisCalls(commands: Commands, keys: CallKeys): CallStore {
  const { state, members, calls, whats, callers, marks, waits, left } = keys;
  return {
    async add(member, { id, text, what, isOnline, devices, before }, most) {
      const { order = 0, age = 0 } = before ?? {};
      const args = [id, member, text, what, isOnline ? 1 : 0, most, order, Math.round(age)];
      const answer = await commands.run(
        ADD,
        [state, calls, whats, callers, marks, waits, left(id)],
        [...args, ...devices.flat()],
      );
      const [given, ...full] = answer as [number, ...string[]];
      return { order: given, full };
    },

    async mark(member, id, chipid, mark) {
      const args = [member, id, chipid, mark];
      const answer = await commands.run(MARK, [callers, marks, waits, state], args);
      if (answer === 'unsettled') throw new StoreError('it may have lost the command', false);
      return answer as MarkOutcome;
    },

    async remove(member, id, chipids) {
      const all = [calls, whats, callers, marks, waits, left(id)];
      return (await commands.run(REMOVE, all, [member, id, ...chipids])) === 1;
    },

    async turn(member, chipid, isListed) {
      const answer = commands.run(
        TURN,
        [state, callers, waits],
        [member, chipid, isListed ? 1 : 0],
      );
      const [other, ...ids] = (await answer) as [number, ...string[]];
      return { ids, other: other < 0 ? 'none' : other === 1 ? 'begun' : 'waits' };
    },

    async list() {
      const [found, by, now] = await Promise.all([
        commands.hash(calls, MUCH),
        commands.hash(callers, MUCH),
        commands.time(),
      ]);
      const memberOf = new Map(by);
      return found.flatMap(([id, value]): StoredCall[] => {
        const [, order, at, text] = /^(\d+) (\d+) ([^]*)$/.exec(value) ?? [];
        const member = memberOf.get(id);
        if (text === undefined || member === undefined) return [];
        return [{ id, member, order: Number(order), age: Math.max(0, now - Number(at)), text }];
      });
    },

    async waiting() {
      const lines = await commands.hash(waits, MUCH);
      return new Map(
        lines.map(([chipid, text]) => {
          const line = JSON.parse(text) as [id: string, isOnline: number, hasBegun: number][];
          return [chipid, line.flatMap(([id, , hasBegun]) => (hasBegun === 1 ? [] : [id]))];
        }),
      );
    },

    async adopt(member, ids) {
      return (await commands.run(ADOPT, [state, members, callers], [member, ...ids])) as string[];
    },

    async read(wanted) {
      const fields = wanted.flatMap(({ id, chipids }) =>
        chipids.map((chipid) => `${id}/${chipid}`),
      );
      const [texts, found] = (await Promise.all([
        commands.read(MUCH, 'HMGET', whats, ...wanted.map(({ id }) => id)),
        commands.read(MUCH, 'HMGET', marks, ...fields),
      ])) as (string | null)[][];
      const known = found?.values();
      return wanted.map(({ chipids }, index) => {
        const devices = chipids.map((chipid) => [chipid, known?.next().value ?? ''] as const);
        const what = texts?.[index] ?? undefined;
        return what === undefined ? undefined : { what, devices };
      });
    },
  };
}
