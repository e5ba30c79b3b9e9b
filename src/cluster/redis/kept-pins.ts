import type { PinStore } from '../store';
import type { Commands } from './commands';
import { script } from './scripts';

/** About the most bytes that are read at a time. */
const MUCH = 4 * 1024 * 1024;

/**
 * Writes what is wanted of a pin, under a new version, or, without a text, that nothing is any more. With a version it is the
 * state of a pin instead, which counts only while nobody has another wish; a wish that the store has lost is put back.
 *
 * KEYS: state, pins. ARGV: field, text, version or 0, 1 to put it back.
 */
const WRITE = script(`
local state, pins, field, text, version = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
local top = tonumber(redis.call('HGET', state, 'pins') or '') or 0
local known = tonumber(string.match(redis.call('HGET', pins, field) or '', '^%d+') or '')
if version > 0 then
  if ARGV[4] == '1' and (not known or known < version) then
    redis.call('HSET', state, 'pins', string.format('%d', math.max(top, version)))
  elseif known ~= version then return 0 end
else
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
      return (await commands.run(WRITE, [state, pins], args)) as number;
    },

    async version() {
      return Number((await commands.call('HGET', state, 'pins')) ?? 0);
    },

    async list() {
      const texts = (await commands.read(MUCH, 'HGETALL', pins)) as string[];
      return texts.flatMap((field, index) => {
        const [chipid = '', pin] = field.split('/');
        const [, version, text] = /^(\d+) ([^]*)$/.exec(texts[index + 1] ?? '') ?? [];
        if (index % 2 === 1 || text === undefined) return [];
        return [{ chipid, pin: Number(pin), version: Number(version), text }];
      });
    },
  };
}
