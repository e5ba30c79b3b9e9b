import { Queues, type QueueObserver } from '../../../src/commands/queue';
import { manual, type Manual } from './manual';
import { settled } from '../../tooling/until';

/** Commands that a test ends by hand, noted as they start. */
export function commands(gap = 0, observer?: QueueObserver) {
  const queues = new Queues(gap, { observer });
  const started: string[] = [];
  const running = new Map<string, Manual<string>>();
  const run = (chipid: string, name: string, signal?: AbortSignal): Promise<string> =>
    queues.call(
      chipid,
      () => {
        started.push(name);
        const command = manual<string>();
        running.set(name, command);
        return command.promise;
      },
      { signal },
    );
  const end = async (name: string): Promise<void> => {
    running.get(name)!.resolve(name);
    await settled();
  };
  return { queues, started, running, run, end };
}
