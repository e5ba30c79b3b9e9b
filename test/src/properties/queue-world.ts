import { Command as QueuedCommand, Queues } from '../../../src/commands/queue';
import { isDeviceCloudError } from '../../../src/errors';
import { manual, type Manual } from '../support/manual';
import { settled } from '../../../tooling/until';
import { tick } from '../../support/clock';

/** A step in the life of a queue. */
export type QueueStep =
  /** `count` commands are added. They throw at once when their turn comes, or run until they are ended. */
  | { kind: 'run'; device: string; count: number; throws: boolean; counted: boolean }
  /** The command that runs on a device ends. */
  | { kind: 'end'; device: string; fails: boolean }
  /** The command that was added at this place is aborted. */
  | { kind: 'abort'; which: number }
  /** The gap between two commands passes. */
  | { kind: 'wait' }
  | { kind: 'close' };

/** The observable state of a queue. */
export interface QueueView {
  /** Places of the commands in the order in which they started. */
  started: number[];
  /** The outcomes of settled commands, by place. */
  ends: Record<number, string>;
  /** The number of devices with commands. */
  size: number;
}

interface Command {
  device: string;
  abort: AbortController;
  running: Manual<string> | undefined;
  /** How often its promise was settled, and the last outcome. */
  times: number;
  how: unknown;
}

export const GAP_PASSES = 50;

/** The queue of src, driven by steps. */
export function createQueueWorld(gap: number) {
  const order = new Queues(gap);
  const commands: Command[] = [];
  const started: number[] = [];

  const run = (device: string, throws: boolean, counted: boolean): void => {
    const place = commands.length;
    const command: Command = {
      ...{ device, abort: new AbortController(), running: undefined },
      ...{ times: 0, how: undefined },
    };
    commands.push(command);
    const settle = (how: unknown): void => {
      command.times++;
      command.how = how;
    };
    const start = (): Promise<string> => {
      started.push(place);
      if (throws) throw new Error('threw');
      command.running = manual<string>();
      return command.running.promise;
    };
    const queued = new QueuedCommand(device, start, { signal: command.abort.signal });
    queued.isCounted = counted;
    order.run(queued).then(settle, settle);
  };

  const acts: { [Kind in QueueStep['kind']]: (step: Extract<QueueStep, { kind: Kind }>) => void } =
    {
      run({ device, count, throws, counted }) {
        for (let each = 0; each < count; each++) run(device, throws, counted);
      },
      end({ device, fails }) {
        for (const command of commands.filter((each) => each.device === device)) {
          if (fails) command.running?.reject(new Error('failed'));
          else command.running?.resolve('done');
          command.running = undefined;
        }
      },
      abort: ({ which }) => commands[which]?.abort.abort(),
      wait: () => tick(GAP_PASSES),
      close: () => order.close(),
    };

  const nameOf = (how: unknown): string => {
    if (isDeviceCloudError(how)) return how.code;
    return how instanceof Error ? how.message : String(how);
  };

  return {
    act: (step: QueueStep): void => (acts[step.kind] as (step: QueueStep) => void)(step),
    settled: () => settled(3),
    view: (): QueueView => ({
      started: [...started],
      ends: Object.fromEntries(
        commands.flatMap(({ times, how }, place) => (times > 0 ? [[place, nameOf(how)]] : [])),
      ),
      size: order.size,
    }),
    pending: () => commands.filter(({ times }) => times === 0).length,
    settlements: () => commands.map(({ times, how }) => ({ times, how })),
    startsByDevice: () =>
      ['1', '2', '3'].map((device) =>
        started.filter((place) => commands[place]?.device === device),
      ),
    /** How many commands of one device run side by side at most. */
    mostAtOnce: () =>
      Math.max(
        ...['1', '2', '3'].map(
          (device) => commands.filter((each) => each.device === device && each.running).length,
        ),
      ),
  };
}
