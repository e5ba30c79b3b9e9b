// node scripts/run.mjs test/soak/waiting/soak [--kills 200] [--devices 50] [--seed TEXT]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSimulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { createDice } from '../dice';

/** Commands of one process: more than it can send before it is killed. */
const PER_RUN = 60;

/** What is known of a command. */
interface Fate {
  chipid: string;
  hasWaited: boolean;
  ends: string[];
}

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    devices: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(process.pid) },
  },
});
const kills = Number(values.kills);
const dice = createDice(values.seed);
const chipids = Array.from({ length: Number(values.devices) }, (_, n) => String(20_000_000 + n));
const fates = new Map<number, Fate>();
const errors: string[] = [];

function fateOf(id: number): Fate {
  const known = fates.get(id);
  if (known) return known;
  const fate = { chipid: '', hasWaited: false, ends: [] };
  fates.set(id, fate);
  return fate;
}

/** @returns whether the process has begun to send */
function read(line: string): boolean {
  const [, sign = '', id = '', code = ''] = /^([~+=!*])(\S*) ?(.*)$/.exec(line) ?? [];
  if (sign === '!') {
    errors.push(line);
    console.log(line);
  }
  if (sign === '~') fateOf(Number(id)).chipid = code;
  if (sign === '+') Object.assign(fateOf(Number(id)), { chipid: code, hasWaited: true });
  if (sign === '=') fateOf(Number(id)).ends.push(code);
  return sign === '*';
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waiting-'));
  const simulator = await startSimulator({
    ...{ interval: 0, answerDelay: 20, offlineAfter: 100 },
    devices: chipids.map((chipid) => ({ chipid })),
  });
  const { baseUrl, appid, appkey } = simulator;
  const run = (first: number, count: number) => {
    const args = [baseUrl, appid, appkey, folder, first, count].map(String);
    const child = spawn(process.execPath, [join(__dirname, 'sender.js'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, DEVICES: chipids.join(',') },
    });
    let hasBegun = false;
    const lines = createInterface(child.stdout);
    lines.on('line', (line) => (hasBegun = read(line) || hasBegun));
    return { child, lines, begun: () => until(() => hasBegun, 'the process has begun') };
  };
  /** Devices come and go: one that comes uploads. */
  let isOver = false;
  const moving = (async () => {
    while (!isOver) {
      const chipid = dice.pick(chipids);
      if (dice.roll(3) === 0) simulator.switchOff(chipid);
      else {
        simulator.switchOn(chipid);
        simulator.upload(chipid, 'awake');
      }
      await sleep(dice.between(1, 8));
    }
  })();
  let resumed = 0;
  for (let kill = 0; kill < kills; kill++) {
    const { child, lines, begun } = run(kill * PER_RUN, PER_RUN);
    // Some die while they read what the one before has left.
    const isEarly = dice.roll(10) === 0;
    if (!isEarly) await begun();
    await sleep(dice.between(0, isEarly ? 300 : 700));
    const closed = once(lines, 'close');
    child.kill('SIGKILL');
    await closed;
    if (kill % 20 === 19) console.log(`${kill + 1} kills, ${fates.size} commands`);
  }
  // In the end all devices are there, and everything that waits is sent.
  isOver = true;
  await moving;
  for (const chipid of chipids) simulator.switchOn(chipid);
  const { child, lines, begun } = run(kills * PER_RUN, 0);
  await begun();
  const open = () =>
    [...fates.values()].filter(({ hasWaited, ends }) => hasWaited && ends.length === 0);
  const before = open().length;
  for (let round = 0; round < 600 && open().length > 0 && child.exitCode === null; round++) {
    for (const chipid of chipids) simulator.upload(chipid, 'awake');
    await sleep(100);
    resumed = before - open().length;
    if (round % 50 === 49) console.log(`${open().length} of ${before} commands still wait`);
  }
  // It may have ended by itself, since nothing waits any more.
  const closed = child.exitCode === null ? once(lines, 'close') : undefined;
  child.kill('SIGKILL');
  await closed;

  let twice = 0;
  let outOfOrder = 0;
  const acted = new Set<number>();
  for (const chipid of chipids) {
    const order: number[] = [];
    for (const { text } of simulator.device(chipid).received) {
      const id = Number(text);
      if (acted.has(id)) twice++;
      else if (order.some((earlier) => id < earlier)) outOfOrder++;
      acted.add(id);
      order.push(id);
    }
  }
  const waited = [...fates].filter(([, { hasWaited }]) => hasWaited);
  // One that acted may have ended with its process, before it could be reported.
  for (const [id, { chipid, ends }] of waited)
    if (ends.length === 0) console.log(`${id} to ${chipid}: ${acted.has(id) ? 'acted' : 'lost'}`);
  const lost = waited.filter(([id, { ends }]) => ends.length === 0 && !acted.has(id));
  const count = (code: string): number =>
    [...fates.values()].filter(({ ends }) => ends.includes(code)).length;
  const notSentButActed = [...fates].filter(
    ([id, { ends }]) =>
      acted.has(id) && ends.some((code) => /EXPIRED|CANCELLED|UNREACHABLE/.test(code)),
  );
  const result = {
    ...{ seed: values.seed, kills, devices: chipids.length, commands: fates.size },
    ...{ waited: waited.length, acted: acted.size, uncertain: count('UNCERTAIN'), resumed },
    ...{ twice, lost: lost.length, outOfOrder, notSentButActed: notSentButActed.length },
    errors: errors.length,
  };
  console.log(JSON.stringify(result, null, 2));
  if (errors.length > 0) console.log(errors.slice(0, 10).join('\n'));
  await simulator.close();
  rmSync(folder, { recursive: true });
  const isGood = twice + lost.length + outOfOrder + notSentButActed.length + errors.length === 0;
  process.exitCode = isGood && waited.length > 0 ? 0 : 1;
}

void main();
