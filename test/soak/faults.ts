import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { until } from '../tooling/until';
import type { Dice } from './trouble';
import { now, type World } from './world';

/** Milliseconds that a fault is given until all follows. */
export const SETTLE = 15_000;

/** Milliseconds that a process may take from its start until it emits. */
const LONGEST = 60_000;

/** Kills a process as soon as it has emitted an upload; of a cluster, one that waits for its acknowledgement. */
async function kill(world: World, at: number): Promise<void> {
  const red = world.process(at);
  const pid = String(red.pid());
  const begin = world.lines().length;
  const look = (): readonly string[] | undefined =>
    world
      .lines()
      .slice(begin)
      .findLast(([what, of]) => what === (world.isShared ? 'emitted' : 'upload') && of === pid);
  const [, , chipid = '', count = ''] = await until(look, `process ${pid} emits`, LONGEST);
  await red.end('SIGKILL');
  world.kills.push({ pid, at: now(), chipid, count, waiting: await world.waitingCommands() });
}

/** Kills processes again and again, side by side, and starts them again. */
export async function killAgain(
  world: World,
  places: readonly number[],
  isOver: () => boolean,
  pause: () => number = () => 0,
): Promise<void> {
  const lives = places.map(async (at) => {
    for (await sleep(pause()); !isOver(); await sleep(pause())) {
      await kill(world, at);
      await world.startAgain(at);
    }
  });
  await Promise.all(lives);
}

/** Milliseconds that a process lives which is killed at random moments. */
export const lifeOf = (dice: Dice) => (): number => dice.between(3000, 20_000);

type Faults = Readonly<Record<string, (world: World) => Promise<void>>>;

/** Faults of a cluster, one after another. @param kills how many short lives of a process there are */
export const faultsOf = (kills: number): Faults => ({
  none: () => sleep(SETTLE),
  'a process is killed': async (world) => {
    await world.process(1).end('SIGKILL');
    await sleep(SETTLE);
    await world.startAgain(1);
  },
  'a process hangs for 15 s': async (world) => {
    world.process(2).process.kill('SIGSTOP');
    await sleep(15_000);
    world.process(2).process.kill('SIGCONT');
  },
  'each process ends and starts, one after another': async (world) => {
    for (let at = 0; at < world.options.processes; at++) {
      await world.process(at).end('SIGTERM');
      await world.startAgain(at);
    }
  },
  'Redis is killed for 5 s, and has its file': async (world) => {
    await world.redis!.end('SIGKILL');
    await sleep(5000);
    await world.restartRedis();
  },
  'Redis hangs for 20 s': async (world) => {
    world.redis!.stop();
    await sleep(20_000);
    world.redis!.cont();
  },
  'Redis loses all': async (world) => {
    const engine = new Redis(world.redis!.url);
    await engine.flushall();
    engine.disconnect();
  },
  'a process is cut off from Redis for 15 s': async (world) => {
    world.front.restart(15_000);
    await sleep(15_000);
  },
  'the clock of a machine is set an hour ahead, and back': async (world) => {
    for (let times = 0; times < 2; times++) {
      world.process(1).process.kill('SIGWINCH');
      await sleep(10_000);
    }
  },
  'all processes but one are killed again and again': (world) => {
    const places = Array.from({ length: world.options.processes - 1 }, (_, at) => at + 1);
    return killAgain(world, places, () => world.kills.length >= kills);
  },
  'Redis is killed for 5 s, and has lost all': async (world) => {
    await world.redis!.end('SIGKILL');
    await sleep(5000);
    await world.restartRedis(['appendonly no']);
  },
});

/** With a Sentinel and a replica. */
export const FAILOVERS: Faults = {
  'Redis is killed, and its replica takes over': async (world) => {
    await world.redis!.end('SIGKILL');
    await sleep(SETTLE);
  },
};
