import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isDeviceCloudError, type ErrorCode } from '../../../src/errors';
import { WHENS, type When } from '../../../src/types';
import { waitingWorld, type WaitingEvent } from '../commands/waiting-world';
import { holds } from '../support/fuzz';
import { settled } from '../../tooling/until';
import { useClock } from '../../support/clock';

const DEVICES = ['1', '2', '3'];
const NO_ANSWER: readonly ErrorCode[] = ['TIMEOUT', 'GATEWAY', 'CONNECTION_LOST', 'UNREACHABLE'];
const NOT_SENT = ['EXPIRED', 'QUEUE_FULL', 'UNREACHABLE'];

const device = fc.constantFrom(...DEVICES);
const of = <K extends string>(kind: K) => ({ kind: fc.constant(kind) });
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...of('run'),
      device,
      when: fc.constantFrom(...WHENS),
      count: fc.constantFrom(1, 1, 1, 1, 2, 5, 60),
      expires: fc.constantFrom(1, 5, 3600),
    }),
  },
  { weight: 4, arbitrary: fc.record({ ...of('upload'), device }) },
  { weight: 2, arbitrary: fc.record({ ...of('online'), devices: fc.subarray(DEVICES) }) },
  { weight: 2, arbitrary: fc.record({ ...of('refresh'), age: fc.constantFrom(0, 1000, 90_000) }) },
  { weight: 1, arbitrary: fc.record({ ...of('break'), isBroken: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ ...of('answer'), device }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...of('fail'),
      device,
      code: fc.constantFrom<ErrorCode>(...NO_ANSWER, 'NOT_FOUND'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ ...of('abort'), which: fc.nat(80) }) },
  { weight: 3, arbitrary: fc.record({ ...of('pass'), seconds: fc.constantFrom(0.5, 1, 5, 60) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Command {
  name: string;
  device: string;
  when: When;
  abort: AbortController;
  /** With what its promise was settled. */
  settlements: unknown[];
}

/** The world, driven by steps. */
function driven(gap: number) {
  const world = waitingWorld(gap);
  const commands: Command[] = [];
  const runningOn = (name: string): Command | undefined =>
    commands.find((each) => each.device === name && world.running.has(each.name));
  const run = (on: string, when: When, expires: number): void => {
    const name = String(commands.length);
    const abort = new AbortController();
    const command: Command = { name, device: on, when, abort, settlements: [] };
    commands.push(command);
    const settle = (how: unknown): void => void command.settlements.push(how);
    const { promise } = world.run(name, when, { device: on, expires, signal: abort.signal });
    promise.then(settle, settle);
  };
  const fail = async ({ name, device: on, abort }: Command, code: ErrorCode): Promise<void> => {
    if (NO_ANSWER.includes(code) && !abort.signal.aborted)
      world.events.push({ kind: 'lost', device: on });
    await world.fail(name, code);
  };
  const act = async (each: Step): Promise<void> => {
    if (each.kind === 'run')
      for (let count = 0; count < each.count; count++) run(each.device, each.when, each.expires);
    else if (each.kind === 'upload') world.channels.upload(each.device);
    else if (each.kind === 'online') world.list.online = each.devices;
    else if (each.kind === 'break') world.list.isBroken = each.isBroken;
    else if (each.kind === 'refresh') {
      world.list.age = each.age;
      world.list.refresh();
      world.list.age = 0;
    } else if (each.kind === 'abort') commands[each.which]?.abort.abort();
    else if (each.kind === 'pass') await world.pass(each.seconds);
    else {
      const command = runningOn(each.device);
      if (!command) return;
      if (each.kind === 'answer') await world.answer(command.name);
      else await fail(command, each.code);
    }
  };
  /** Every device wakes and answers until nothing waits. */
  const finish = async (): Promise<void> => {
    world.list.isBroken = false;
    for (let round = 0; commands.some(({ settlements }) => settlements.length === 0); round++) {
      assert.ok(round < 1000, 'some command is never settled');
      for (const each of DEVICES) {
        world.channels.upload(each);
        const command = runningOn(each);
        if (command) await world.answer(command.name);
      }
      await world.pass(0.05);
    }
    await world.pass(0.05);
  };
  return { world, commands, act, finish };
}

/** When the latest sign of a device was made before an event: an upload then, a listing when its list was asked for. */
function lastSign(before: readonly WaitingEvent[], on: string): number | undefined {
  let read = 0;
  let sign: number | undefined;
  for (const event of before) {
    if (event.kind === 'read') read = event.at;
    if (event.device !== on) continue;
    if (event.kind === 'upload') sign = event.at;
    else if (event.kind === 'listing' && read >= (sign ?? 0)) sign = read;
    else if (event.kind === 'lost') sign = undefined;
  }
  return sign;
}

/** Whether a reading of the list since a command was given left its device online, since no list was asked for after its latest sign. */
function wasHeardLast(events: readonly WaitingEvent[], on: string, run: number): boolean {
  return events.some((reading, index) => {
    if (index < run || reading.kind !== 'read') return false;
    const before = events.slice(0, index + 1);
    const sign = lastSign(before, on);
    return sign !== undefined && before.every((each) => each.kind !== 'read' || each.at <= sign);
  });
}

/** Checks each start of a waiting command against what happened before it. */
function checkStarts(events: readonly WaitingEvent[], commands: readonly Command[]): void {
  const startedAt = new Map<string, number>();
  events.forEach((event, index) => {
    if (event.kind !== 'start') return;
    const { name, device: on } = event;
    const { when } = commands[Number(name)]!;
    const before = events.slice(0, index).filter((each) => each.device === on);
    assert.ok(!startedAt.has(name), `${name} acted twice`);
    startedAt.set(name, index);
    assert.ok(
      !before.some((each) => each.kind === 'end' && each.name === name),
      `${name} acted although its caller got the error that it did not`,
    );
    if (when === 'now') return;
    const since = before.findLastIndex(
      (each) => each.kind === 'lost' || (each.kind === 'run' && each.name === name),
    );
    const signs = before.slice(since).map(({ kind }) => kind);
    const run = events.findIndex((each) => each.kind === 'run' && each.name === name);
    const isOnline =
      when === 'online' &&
      (signs.includes('listing') || wasHeardLast(events.slice(0, index), on, run));
    assert.ok(signs.includes('upload') || isOnline, `${name} acted without a sign of its device`);
  });
  for (const on of DEVICES)
    for (const when of WHENS) {
      const mine = commands.filter((each) => each.device === on && each.when === when);
      const starts = mine.map(({ name }) => startedAt.get(name)).filter((at) => at !== undefined);
      assert.deepEqual(
        starts,
        starts.toSorted((a, b) => a - b),
        'not in the order of arrival',
      );
    }
}

function checkSettlements(commands: readonly Command[], started: readonly string[]): void {
  for (const { name, when, settlements } of commands) {
    assert.equal(settlements.length, 1, `${name} was settled ${settlements.length} times`);
    const [how] = settlements;
    if (started.includes(name)) continue;
    assert.ok(isDeviceCloudError(how), `${name} succeeded without a call`);
    assert.ok(NOT_SENT.includes(how.code), `${name} ended with ${how.code}`);
    if (when === 'now') assert.notEqual(how.code, 'EXPIRED');
  }
}

const steps = fc.array(step, { maxLength: 60, size: 'max' });

/** A device is listed, the list cannot be read, and then an answer comes that was asked for before it was listed. */
const LATE_LIST: Step[] = [
  { kind: 'break', isBroken: true },
  { kind: 'online', devices: ['3'] },
  { kind: 'refresh', age: 0 },
  { kind: 'online', devices: [] },
  { kind: 'run', device: '3', when: 'online', count: 1, expires: 5 },
  { kind: 'refresh', age: 90_000 },
];

describe('waiting commands, whatever devices, lists, callers and clocks do', () => {
  useClock();

  for (const [how, rounds] of [
    ['step by step', 2],
    ['with steps in the same moment', 0],
  ] as const)
    holds(
      `are each sent at most once, after a sign of life of the device, in order, and end once: ${how}`,
      60,
      fc.asyncProperty(steps, fc.constantFrom(0, 50), fc.boolean(), async (all, gap, closes) => {
        const { world, commands, act, finish } = driven(gap);
        for (const each of all) {
          await act(each);
          await settled(rounds);
        }
        if (closes) world.close();
        await finish();
        checkStarts(world.events, commands);
        checkSettlements(commands, world.started);
        assert.deepEqual(world.left(), [0, 0, 0, 0]);
      }),
      { examples: [[LATE_LIST, 0, false]] },
    );
});
