/** What one operation took, on average. */
export interface Sample {
  /** Microseconds of CPU of this process: user and system, all threads. */
  cpu: number;
  /** Operations a second. */
  rate: number;
}

/** Starts to measure this process. The function that it returns ends that. */
export function startMeter(): (operations: number) => Sample {
  const start = performance.now();
  const before = process.cpuUsage();
  return (operations) => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - start) / 1000;
    return { cpu: (user + system) / operations, rate: operations / seconds };
  };
}

/** Bytes of this process. */
export interface Memory {
  /** All that the system has given. */
  rss: number;
  /** The same without what the heap keeps free for later. */
  used: number;
  /** Of objects, in the heap and outside it. */
  objects: number;
}

const collect = (globalThis as { gc?: () => void }).gc;

/** Reads the memory when nothing is left to collect. Needs `--expose-gc`. */
export async function readMemory(): Promise<Memory> {
  if (!collect) throw new Error('Memory is only read with --expose-gc.');
  for (let round = 0; round < 4; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  return { rss, used: rss - (heapTotal - heapUsed), objects: heapUsed + external };
}

/**
 * Measures how much CPU this process takes in one turn of its event loop, in ms. Unlike the delay of the loop, that
 * does not depend on other processes. It turns the loop all the time, so nothing else can be measured meanwhile. The
 * function that it returns ends that.
 */
export function watchTurns(): () => number {
  let most = 0;
  let isOver = false;
  let before = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    most = Math.max(most, (user + system) / 1000);
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    turn();
    return most;
  };
}
