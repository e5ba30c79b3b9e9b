/** Milliseconds in which a fault that repeats is counted and not written again. */
const QUIET = 60_000;

interface Seen {
  at: number;
  more: number;
}

/**
 * Writes each kind of fault once, then at most once a minute with the count since: never a flood.
 * @returns takes the kind of the fault, and the line for the log
 */
export function createFaultLog(
  write: (line: string) => void,
  now: () => number = () => performance.now(),
): (kind: string, line: string) => void {
  const faults = new Map<string, Seen>();

  return (kind, line) => {
    const at = now();
    const seen = faults.get(kind);
    if (seen && at - seen.at < QUIET) {
      seen.more++;
      return;
    }
    write(seen && seen.more > 0 ? `${line} (and ${seen.more} more like it)` : line);
    faults.set(kind, { at, more: 0 });
  };
}
