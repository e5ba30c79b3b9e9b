import { MOST_FIELDS, type PinStore, type StoredField, type ValueStore } from '../store';
import type { Commands } from './commands';
import { script } from './scripts';

/** Milliseconds that a value is kept after its last write. */
const KEPT = 60 * 24 * 60 * 60_000;

/** How many fields above the limit are forgotten at once, since all have to be read for that. */
const SPARE = 500;

/** About the most bytes of a field, of all fields of a value, and of all pins. */
const BYTES = { field: 8 * 1024, all: 1024 * 1024, pins: 4 * 1024 * 1024 };

/**
 * Writes fields, each as "version text". The last version has a field of its own, without a name.
 *
 * KEYS: value. ARGV: the highest version that the writer knows, then version or 0, field and text of each.
 */
const WRITE = script(`
local value = KEYS[1]
local version = math.max(tonumber(redis.call('HGET', value, '') or '') or 0, tonumber(ARGV[1])) + 1
for i = 2, #ARGV, 3 do
  local own, field = tonumber(ARGV[i]), ARGV[i + 1]
  if own == 0 then own = version end
  if own > (tonumber(string.match(redis.call('HGET', value, field) or '', '^%d+') or '') or 0) then
    redis.call('HSET', value, field, string.format('%d ', own) .. ARGV[i + 2])
  end
end
if #ARGV > 1 then redis.call('HSET', value, '', string.format('%d', version)) end
redis.call('PEXPIRE', value, ${KEPT})
if redis.call('HLEN', value) <= ${MOST_FIELDS + SPARE} then return { version, 0 } end

local found, fields = redis.call('HGETALL', value), {}
for i = 1, #found, 2 do
  if string.find(found[i], '/', 1, true) then
    fields[#fields + 1] = { tonumber(string.match(found[i + 1], '^%d+') or '') or 0, found[i] }
  end
end
table.sort(fields, function(one, other) return one[1] < other[1] end)
for i = 1, #fields - ${MOST_FIELDS} do redis.call('HDEL', value, fields[i][2]) end
return { version, 1 }
`);

/** A field as it is written: "version text". Anything else is left out. */
function readField([field, stored]: readonly [
  string,
  (string | null | undefined)?,
]): StoredField[] {
  const [, version, text] = /^(\d+) ([^]*)$/.exec(stored ?? '') ?? [];
  return text === undefined ? [] : [{ field, version: Number(version), text }];
}

/** Keeps the values of nodes in the engine. @param keyOf returns the key of a value */
export function redisValues(commands: Commands, keyOf: (name: string) => string): ValueStore {
  return {
    async read(name, fields) {
      if (fields?.length === 0) return [];
      if (fields) {
        const bytes = Math.min(fields.length * BYTES.field, BYTES.all);
        const texts = (await commands.read(bytes, 'HMGET', keyOf(name), ...fields)) as string[];
        return fields.flatMap((field, index) => readField([field, texts[index]]));
      }
      return (await commands.hash(keyOf(name), BYTES.all)).flatMap(readField);
    },

    async write(name, top, fields) {
      const args = fields.flatMap(({ field, version, text }) => [version, field, text]);
      const [version, forgets] = (await commands.run(WRITE, [keyOf(name)], [top, ...args])) as [
        number,
        number,
      ];
      return { version, forgets: forgets === 1 };
    },
  };
}

/**
 * Writes what is wanted of a pin, under a new version, or, without a text, that nothing is any more. With a version it is the
 * state of a pin instead, or the end of that wish, and counts only while nobody has another wish; a wish that the store has lost
 * is put back.
 *
 * KEYS: state, pins. ARGV: field, text, version or 0, 1 to put it back.
 */
const WRITE_PIN = script(`
local state, pins, field, text, version = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
local top = tonumber(redis.call('HGET', state, 'pins') or '') or 0
local known = tonumber(string.match(redis.call('HGET', pins, field) or '', '^%d+') or '')
if version > 0 then
  if ARGV[4] == '1' and (not known or known < version) then
    redis.call('HSET', state, 'pins', string.format('%d', math.max(top, version)))
  elseif known ~= version then return 0 end
end
if version == 0 or text == '' then
  version = top + 1
  redis.call('HSET', state, 'pins', string.format('%d', version))
end
if text == '' then redis.call('HDEL', pins, field)
else redis.call('HSET', pins, field, string.format('%d ', version) .. text) end
return version
`);

/** Keeps in the engine which pins keep which level. */
export function redisPins(commands: Commands, state: string, pins: string): PinStore {
  return {
    async write(chipid, pin, text, { version = 0, isLost = false } = {}) {
      const args = [`${chipid}/${pin}`, text ?? '', version, isLost ? 1 : 0];
      return (await commands.run(WRITE_PIN, [state, pins], args)) as number;
    },

    async version() {
      return Number((await commands.call('HGET', state, 'pins')) ?? 0);
    },

    async list() {
      const stored = (await commands.hash(pins, BYTES.pins)).flatMap(readField);
      return stored.map(({ field, ...rest }) => {
        const [chipid = '', pin] = field.split('/');
        return { chipid, pin: Number(pin), ...rest };
      });
    },
  };
}
