import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readMemory, type Memory, type Sample } from '../process/meter';
import { createCounter, type Counter } from './counter';

/** What holds channels open and receives uploads. */
export interface ChannelSettings {
  /** Scheme, host and port of the service: `http` or `https`. */
  baseUrl: string;
}

/** A process that holds channels open. */
export interface ChannelMethods {
  /** Starts to open channels until there are so many. The service knows when they are open. */
  open(channels: number): Promise<void>;
  begin(): void;
  end(expected: number): Promise<Sample>;
  memory(): Promise<Memory>;
  /** 99 of 100 delays of the event loop within so many seconds were shorter, in milliseconds. */
  delay(seconds: number): Promise<number>;
}

/** Milliseconds between two looks at the event loop; what is beyond them is delay. */
const RESOLUTION = 10;

async function delay(seconds: number): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  histogram.disable();
  return Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION);
}

/** What all of them have in common. @param open is given the counter, to be told of each upload */
export function channelMethods(
  open: (channels: number, counter: Counter) => Promise<void>,
): ChannelMethods {
  const counter = createCounter();
  return {
    open: (channels) => open(channels, counter),
    begin: () => counter.begin(),
    end: (expected) => counter.end(expected),
    memory: readMemory,
    delay,
  };
}
