import type { QueueStep, QueueView } from './queue-world';

interface Entry {
  place: number;
  throws: boolean;
  /** Whether it counts towards {@link MOST}. */
  counted: boolean;
}

interface Device {
  running: Entry | undefined;
  waiting: Entry[];
  /** The number of the gap that has not passed since a command ended. */
  resting: number | undefined;
}

/** The contract's words: more than 100 waiting for one device is too many. */
const MOST = 100;

/** What a queue of commands has to do, without a promise or a timer in it. */
export function createQueueModel(gap: number) {
  const devices = new Map<string, Device>();
  const places: { device: string; aborted: boolean }[] = [];
  const started: number[] = [];
  const ends: Record<number, string> = {};
  /** Commands that run although their queue has been closed. */
  let orphans: { device: string; place: number }[] = [];

  let rests = 0;

  const next = (name: string, device: Device): void => {
    device.running = undefined;
    if (gap > 0) device.resting = ++rests;
    else start(name, device);
  };
  /** The gaps that are open pass in the order in which they began. */
  const wait = (): void => {
    const resting = [...devices].filter(([, device]) => device.resting !== undefined);
    resting.sort(([, a], [, b]) => Number(a.resting) - Number(b.resting));
    for (const [name, device] of resting) start(name, device);
  };
  function start(name: string, device: Device): void {
    device.resting = undefined;
    const entry = device.waiting.shift();
    if (!entry) {
      devices.delete(name);
      return;
    }
    started.push(entry.place);
    device.running = entry;
    if (!entry.throws) return;
    ends[entry.place] = 'threw';
    next(name, device);
  }

  const run = (name: string, throws: boolean, counted: boolean): void => {
    const place = places.length;
    places.push({ device: name, aborted: false });
    const device = devices.get(name);
    if (!device) {
      const fresh: Device = {
        running: undefined,
        waiting: [{ place, throws, counted }],
        resting: undefined,
      };
      devices.set(name, fresh);
      start(name, fresh);
    } else if (counted && device.waiting.filter((each) => each.counted).length >= MOST)
      ends[place] = 'QUEUE_FULL';
    else device.waiting.push({ place, throws, counted });
  };
  const end = (name: string, fails: boolean): void => {
    const how = fails ? 'failed' : 'done';
    for (const { place } of orphans.filter(({ device }) => device === name)) ends[place] = how;
    orphans = orphans.filter(({ device }) => device !== name);
    const device = devices.get(name);
    if (!device?.running) return;
    ends[device.running.place] = how;
    next(name, device);
  };
  const abort = (which: number): void => {
    const device = devices.get(places[which]?.device ?? '');
    const index = device?.waiting.findIndex(({ place }) => place === which) ?? -1;
    if (index === -1) return;
    device?.waiting.splice(index, 1);
    ends[which] = 'UNREACHABLE';
  };
  const close = (): void => {
    for (const [name, { running, waiting }] of devices) {
      for (const { place } of waiting) ends[place] = 'UNREACHABLE';
      if (running) orphans.push({ device: name, place: running.place });
    }
    devices.clear();
  };

  return {
    act(step: QueueStep): void {
      if (step.kind === 'run') {
        // They come in one moment, in which none that throws has ended.
        for (let count = 0; count < step.count; count++)
          run(step.device, step.throws, step.counted);
      } else if (step.kind === 'end') end(step.device, step.fails);
      else if (step.kind === 'abort') abort(step.which);
      else if (step.kind === 'close') close();
      else wait();
    },
    view: (): QueueView => ({ started: [...started], ends: { ...ends }, size: devices.size }),
  };
}
