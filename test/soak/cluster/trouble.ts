import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from './engine';
import type { Member } from './member';

/** Something that was done to a process, or to the engine. */
export interface Trouble {
  at: number;
  /** The process that can no longer emit. */
  member?: number;
}

/** A run under way, for whoever makes trouble in it. */
export interface Scene {
  readonly members: readonly Member[];
  readonly engine: Engine | undefined;
  /** When trouble is to end, in ms. */
  readonly end: number;
  readonly troubles: Trouble[];
}

/** Makes trouble until the scene's end, and leaves everything running. */
export type MakesTrouble = (scene: Scene) => Promise<void>;

/** Milliseconds. */
const BEFORE = 5000;
const AWAY = 10_000;
const LONG_AWAY = 90_000;
/** After this time the devices of a process that ended by itself are elsewhere. */
const SOON = 4000;

/** Does something again and again, at equal distances of time, as long as it comes back before the end. */
async function every(
  { end }: Scene,
  distance: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  await sleep(BEFORE);
  for (let index = 0; ; index++) {
    const next = Date.now() + distance;
    if (next > end) break;
    await act(index);
    await sleep(Math.max(0, next - Date.now()));
  }
  await sleep(Math.max(0, end - Date.now()));
}

function memberOf({ members }: Scene, index: number): Member {
  const member = members[index % members.length];
  if (!member) throw new Error('There is no process.');
  return member;
}

/** Notes that a process is hit, now. */
const hit = ({ troubles }: Scene, { index }: Member): void =>
  void troubles.push({ at: Date.now(), member: index });

const note = ({ troubles }: Scene): void => void troubles.push({ at: Date.now() });

/** Ends a process, and starts it again after some milliseconds. */
const endWith =
  (signal: 'SIGKILL' | 'SIGTERM', ms: number) =>
  async (scene: Scene, index: number): Promise<void> => {
    const member = memberOf(scene, index);
    hit(scene, member);
    await member.end(signal);
    await sleep(ms);
    await member.start();
  };

export const kill = endWith('SIGKILL', AWAY);
export const terminate = endWith('SIGTERM', SOON);

export const pause = async (scene: Scene, index: number): Promise<void> => {
  const member = memberOf(scene, index);
  hit(scene, member);
  member.pause();
  await sleep(AWAY);
  member.resume();
};

/** Cuts a process from the engine, by turns with a reset and in silence. */
export const cut = async (scene: Scene, index: number): Promise<void> => {
  const member = memberOf(scene, index);
  hit(scene, member);
  if (index % 2 === 0) member.front?.restart(AWAY);
  else member.front?.hang(AWAY);
  await sleep(AWAY);
};

/** Cuts a process from the engine in silence, for much longer than its devices take to move. */
export const cutForLong = async (scene: Scene, index: number): Promise<void> => {
  const member = memberOf(scene, index);
  hit(scene, member);
  member.front?.hang(LONG_AWAY);
  await sleep(LONG_AWAY);
};

/** @param distance between the beginnings of two troubles, in ms */
export const again =
  (distance: number, act: (scene: Scene, index: number) => Promise<void>): MakesTrouble =>
  (scene) =>
    every(scene, distance, (index) => act(scene, index));

/** Does something to the engine again and again. */
export const toEngine = (
  distance: number,
  act: (engine: Engine, index: number) => Promise<void>,
): MakesTrouble =>
  again(distance, async (scene, index) => {
    if (!scene.engine) throw new Error('There is no engine.');
    note(scene);
    await act(scene.engine, index);
  });

export const restartEngine = (engine: Engine): Promise<void> => engine.restart(AWAY);

export const wipeEngine = (engine: Engine, index: number): Promise<void> =>
  engine.wipe(index % 2 === 0 ? 'flush' : 'restart');

export const failOver = (engine: Engine): Promise<void> => engine.failOver(SOON);

/** Nothing goes wrong. */
export const quiet: MakesTrouble = (scene) => every(scene, Infinity, () => Promise.resolve());
