import { openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { keysOf } from '../../../src/cluster/scripts';
import type { Simulator } from '../../../src/simulator';
import { SHARES } from '../../../src/store/shared';
import { until } from '../../tooling/until';
import { WISHED_PIN } from './flow';

/** Milliseconds between two looks at the journal: far fewer than an upload waits until it is acknowledged. */
const LOOK = 5;

/** Milliseconds that a process may take from its start until it emits. */
const LONGEST = 60_000;

type Line = readonly string[];

/** What the processes write down, as they do. */
export class Journal {
  readonly #file: number;
  #rest = '';

  constructor(path: string) {
    this.#file = openSync(path, 'a+');
  }

  /** The lines since the last call. */
  read(): Line[] {
    const buffer = Buffer.alloc(1 << 20);
    let text = this.#rest;
    for (let size = 1; size > 0;) {
      size = readSync(this.#file, buffer, 0, buffer.length, null);
      text += buffer.toString('utf8', 0, size);
    }
    const lines = text.split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => line.split(' '));
  }
}

/** A process that is killed again and again. */
export interface Victim {
  pid(): number | undefined;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** What there was to do at a kill. */
export interface Kill {
  readonly pid: string;
  /** The upload that it had just emitted. */
  readonly chipid: string;
  readonly count: string;
  /** The texts of the commands that waited at that time, of all processes. */
  readonly waiting: readonly string[];
}

/** Kills each process as soon as it has emitted an upload that waits for its acknowledgement, and starts it again; side by side. */
export async function killAgain(
  victims: readonly Victim[],
  kills: number,
  journal: string,
  waiting: () => Promise<string[]>,
): Promise<Kill[]> {
  const done: Kill[] = [];
  const emitted = new Map<string, Line>();
  const file = new Journal(journal);
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      emitted.clear();
      for (const line of file.read()) if (line[0] === 'emitted') emitted.set(line[1] ?? '', line);
      await sleep(LOOK);
    }
  })();
  let begun = 0;
  const lives = victims.map(async (victim) => {
    while (begun < kills) {
      begun++;
      const pid = String(victim.pid());
      const [, , chipid = '', count = ''] = await until(
        () => emitted.get(pid),
        `process ${pid} emits`,
        LONGEST,
      );
      await victim.kill();
      done.push({ pid, chipid, count, waiting: await waiting() });
      if (done.length % 10 === 0) process.stdout.write(`${done.length} kills\n`);
      await victim.start();
    }
  });
  await Promise.all(lives);
  isOver = true;
  await looking;
  return done;
}

/** The texts of all commands that wait, as the engine has them. */
export async function waitingIn(engine: Redis, application: string): Promise<string[]> {
  const keys = keysOf(application);
  const shares = Array.from({ length: SHARES }, (_, share) => engine.hgetall(keys.share(share)));
  const entries = (await Promise.all(shares)).flatMap((share) => Object.entries(share));
  return entries
    .filter(([key]) => key.startsWith('command:'))
    .flatMap(([, text]) => /later:\d+:\d+/.exec(text) ?? []);
}

/** What became of what the killed processes had to do. */
export function judgeKills(
  kills: readonly Kill[],
  lines: readonly Line[],
  received: readonly string[],
  simulator: Simulator,
): { rows: [string, number][]; isGood: boolean } {
  const acknowledged = new Map<string, Set<string>>();
  const ended = new Set(received);
  const wishes = new Map<string, { level: string; isConfirmed: boolean; topic: string }[]>();
  for (const [what, first = '', chipid = '', third = ''] of lines) {
    if (what === 'acked') {
      const upload = `${chipid} ${third}`;
      acknowledged.set(upload, (acknowledged.get(upload) ?? new Set()).add(first));
    } else if (what === 'done') ended.add(first);
    else if (what === 'wished')
      wishes.set(chipid, [
        ...(wishes.get(chipid) ?? []),
        { topic: first, level: third, isConfirmed: false },
      ]);
    else if (what === 'kept')
      for (const wish of wishes.get(chipid) ?? [])
        if (wish.topic === first) wish.isConfirmed = true;
  }
  // Killed before it was acknowledged.
  const hits = kills.filter(
    ({ pid, chipid, count }) => !acknowledged.get(`${chipid} ${count}`)?.has(pid),
  );
  const skipped = hits.filter(({ chipid, count }) => !acknowledged.has(`${chipid} ${count}`));
  const waited = new Set(kills.flatMap(({ waiting }) => waiting));
  const lost = [...waited].filter((topic) => !ended.has(topic));

  let [wrong, twice] = [0, 0];
  for (const [chipid, all] of wishes) {
    const { levels: pins, sets } = simulator.device(chipid);
    // Of a wish that was not confirmed it is unknown whether it counts.
    const last = all.findLastIndex(({ isConfirmed }) => isConfirmed);
    const levels = all.slice(Math.max(0, last)).map(({ level }) => level);
    const level = pins[WISHED_PIN] ?? '';
    if (last >= 0 && !levels.includes(level)) wrong++;
    twice += Math.max(0, sets.length - all.length);
  }
  const rows: [string, number][] = [
    ['kills', kills.length],
    ['of them between emission and acknowledgement', hits.length],
    ['**of their uploads, never acknowledged**', skipped.length],
    ['commands that waited at a kill', waited.size],
    ['**of them without an end**', lost.length],
    ['wishes', [...wishes.values()].reduce((sum, { length }) => sum + length, 0)],
    ['**pins with another level than wished last**', wrong],
    ['**pins set more often than wished**', twice],
  ];
  return { rows, isGood: skipped.length + lost.length + wrong + twice === 0 };
}
