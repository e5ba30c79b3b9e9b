// node scripts/run.mjs test/soak/pins/soak [--minutes 10] [--devices 200] [--check 60] [--seed TEXT]
//
// Pins keep their levels on devices that lose their power at random, while wishes change and end. At the end each pin is as it
// is wanted, no device was called more often than is promised, and none for a pin that is wanted no more.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DeviceCloudClient } from '../../../src';
import type { KeptPin, PinKeeper } from '../../../src/for-nodes';
import { startSimulator, type RequestRecord } from '../../../src/simulator';
import { createDice } from '../dice';
import { positive } from '../options';

const PINS = [4, 5];

/** Milliseconds between two looks, and between two sets of a pin to the same level. */
const GAP = 30_000;

/** A call that was on its way when something else was wished, in ms. */
const ON_ITS_WAY = 500;

interface Wish {
  at: number;
  level: 0 | 1 | null;
}

interface Call {
  at: number;
  /** Undefined: its levels are read. */
  pin: number | undefined;
  level: number;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    devices: { type: 'string', default: '200' },
    check: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(process.pid) },
  },
});
const minutes = positive('minutes', values.minutes, 600);
const check = 1000 * positive('check', values.check, 3600);
const dice = createDice(values.seed);
const chipids = Array.from({ length: positive('devices', values.devices, 5000) }, (_, n) =>
  String(30_000_000 + n),
);
/** What was wished of each pin, and what was called, by `chipid/pin` and by device. */
const wishes = new Map<string, Wish[]>();
const calls = new Map<string, Call[]>(chipids.map((chipid) => [chipid, []]));
let powerLosses = 0;

function note({ at, path }: RequestRecord): void {
  const [, chipid = '', pin, level] =
    /(?:gpio_status|set_gpio_edge)\/(\d+)\/(?:(\d+)\/(\d)\/)?/.exec(path) ?? [];
  const number = pin === undefined ? undefined : Number(pin);
  calls.get(chipid)?.push({ at, pin: number, level: Number(level) });
}

/** The wish for a pin at a moment. */
const wishAt = (key: string, at: number): Wish | undefined =>
  wishes.get(key)?.findLast((wish) => wish.at <= at);

/** Sets of a pin to the same level that came too soon, or that nobody wished. */
function judgeSets(chipid: string, pin: number): { early: number; unwanted: number } {
  const key = `${chipid}/${pin}`;
  const sets = (calls.get(chipid) ?? []).filter((call) => call.pin === pin);
  const isWanted = ({ at, level }: Call): boolean =>
    wishAt(key, at)?.level === level || wishAt(key, at - ON_ITS_WAY)?.level === level;
  const isEarly = ({ at, level }: Call, index: number): boolean => {
    const before = sets[index - 1];
    if (before?.level !== level || at - before.at >= GAP - ON_ITS_WAY) return false;
    // It was wished anew.
    return !wishes.get(key)?.some((wish) => wish.at >= before.at && wish.at <= at);
  };
  for (const [index, set] of sets.entries())
    if (isEarly(set, index))
      console.log(`too soon: ${key}`, JSON.stringify({ sets, wishes: wishes.get(key) }));
  return {
    early: sets.filter(isEarly).length,
    unwanted: sets.filter((set) => !isWanted(set)).length,
  };
}

/** Times between two looks with more reads than those of one look, and of each wish. */
function judgeReads(chipid: string): number {
  const reads = (calls.get(chipid) ?? []).filter(({ pin }) => pin === undefined);
  const wished = PINS.flatMap((pin) => wishes.get(`${chipid}/${pin}`) ?? []);
  return reads.filter(({ at }) => {
    const isWithin = (each: { at: number }): boolean =>
      each.at >= at && each.at < at + Math.min(GAP, check) - ON_ITS_WAY;
    return (
      reads.filter(isWithin).length >
      2 + 2 * wished.filter((wish) => wish.at >= at - GAP && wish.at < at + GAP).length
    );
  }).length;
}

async function main(): Promise<void> {
  const simulator = await startSimulator({
    ...{ interval: 0, answerDelay: 5, offlineAfter: 500, rebootTime: 500 },
    devices: chipids.map((chipid) => ({ chipid })),
  });
  const { baseUrl, appid, appkey } = simulator;
  const client = new DeviceCloudClient({ baseUrl, appid, appkey });
  const states = { kept: 0, pending: 0, differs: 0, ended: 0 };
  const keeper: PinKeeper = {
    ...{ check, timeout: 3000 },
    onState: ({ state }: KeptPin) => void states[state]++,
  };
  const wish = (chipid: string, pin: number, level: 0 | 1 | null): void => {
    const key = `${chipid}/${pin}`;
    wishes.set(key, [...(wishes.get(key) ?? []), { at: Date.now(), level }]);
    void client.keepPin(chipid, pin, level, keeper);
  };
  let last: RequestRecord | undefined;
  const watching = setInterval(() => {
    const { requests } = simulator;
    const from = last ? requests.lastIndexOf(last) + 1 : 0;
    if (last && from === 0) console.log('Calls were missed: the log is too short.');
    for (const request of requests.slice(from)) note(request);
    last = requests.at(-1) ?? last;
  }, 100);

  for (const chipid of chipids) for (const pin of PINS) wish(chipid, pin, dice.roll(2) as 0 | 1);
  const end = Date.now() + minutes * 60_000;
  for (let turn = 0; Date.now() < end; turn++) {
    await sleep(dice.between(50, 250));
    const chipid = dice.pick(chipids);
    if (simulator.device(chipid).online && dice.roll(4) > 0) {
      // Often too short for the list to show it.
      simulator.switchOff(chipid, dice.between(0.5, dice.roll(3) === 0 ? 90 : 10));
      powerLosses++;
    } else if (dice.roll(3) === 0) {
      const level = dice.roll(5) === 0 ? null : (dice.roll(2) as 0 | 1);
      wish(chipid, dice.pick(PINS), level);
    }
    if (turn % 1000 === 999)
      console.log(
        `${Math.round((end - Date.now()) / 1000)} s left, ${powerLosses} losses of power`,
      );
  }
  const wanted = chipids.flatMap((chipid) =>
    PINS.flatMap((pin) => {
      const level = wishes.get(`${chipid}/${pin}`)?.at(-1)?.level ?? null;
      return level === null ? [] : [{ chipid, pin, level }];
    }),
  );
  const wrong = () =>
    wanted.filter(
      ({ chipid, pin, level }) => Number(simulator.device(chipid).levels[pin]) !== level,
    );
  // A short loss shows nowhere but in the next look; a device is back after at most 90 s.
  const settled = Date.now() + 90_000 + check + 4 * GAP;
  while (wrong().length > 0 && Date.now() < settled) await sleep(1000);
  const notKept = (): number => client.pins.list().filter(({ state }) => state !== 'kept').length;
  while (notKept() > 0 && Date.now() < settled) await sleep(1000);
  await sleep(500);
  clearInterval(watching);
  const left = { wrong: wrong().length, notKept: notKept() };
  await client.close();
  const judged = chipids.flatMap((chipid) => PINS.map((pin) => judgeSets(chipid, pin)));
  const sum = (name: 'early' | 'unwanted'): number =>
    judged.reduce((total, each) => total + each[name], 0);
  const all = [...calls.values()].flat();
  const bad = {
    ...left,
    setTooSoon: sum('early'),
    setUnwanted: sum('unwanted'),
    readTooOften: chipids.reduce((total, chipid) => total + judgeReads(chipid), 0),
  };
  const result = {
    ...{ seed: values.seed, minutes, devices: chipids.length, pins: wanted.length, powerLosses },
    wishes: [...wishes.values()].flat().length,
    ended: [...wishes.values()].flat().filter(({ level }) => level === null).length,
    sets: all.filter(({ pin }) => pin !== undefined).length,
    reads: all.filter(({ pin }) => pin === undefined).length,
    states,
    ...bad,
  };
  console.log(JSON.stringify(result, null, 2));
  await simulator.close();
  const isGood = Object.values(bad).every((count) => count === 0);
  process.exitCode = isGood && powerLosses > 0 ? 0 : 1;
}

void main();
