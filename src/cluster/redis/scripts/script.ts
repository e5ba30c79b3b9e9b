import { createHash } from 'node:crypto';

/** A script for the engine: everything in it happens in one step, and nothing of another client in between. */
export interface Script {
  readonly text: string;
  /** By which the engine knows it once it has seen it. */
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

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
export const SLOT = `
local function readSlot(value)
  local epoch, owner = string.match(value or '', '^(%d+) (.*)$')
  return tonumber(epoch) or 0, owner or ''
end
`;

/**
 * A position is kept as "epoch sequence position", so that a write that comes late is recognised. Whose the device is,
 * its slot alone says: an epoch above that of the slot is left from before the slots were lost.
 */
export const PUT = `
local function isNew(positions, chipid, epoch, sequence)
  local e, s = string.match(redis.call('HGET', positions, chipid) or '', '^(%d+) (%d+) ')
  return tonumber(e) ~= tonumber(epoch) or tonumber(s) < tonumber(sequence)
end

local function put(positions, chipid, epoch, sequence, position)
  redis.call('HSET', positions, chipid,
    string.format('%d %d ', tonumber(epoch), tonumber(sequence)) .. position)
end
`;
