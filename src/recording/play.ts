import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import {
  Recording,
  type CallLine,
  type ListedDevice,
  type ListLine,
  type RecordedLine,
  type UploadLine,
} from './read';

/** Devices that are played at most: the rest is as if it had not been recorded. */
const MAX_DEVICES = 10_000;
/** Calls, and uploads that were recovered, that are kept in memory; and characters of each of the two. */
const MAX_KEPT = 100_000;
const MAX_CHARACTERS = 64 * 2 ** 20;
/** Milliseconds of the longest wait at once. */
const LONGEST_WAIT = 3_600_000;
/** Milliseconds after which lines that are due let others have a turn. */
const TURN = 10;

/** From now on the channels of a device carry nothing, until they are cut. */
export interface SilenceLine {
  t: number;
  kind: 'silence';
  chipid: string;
}

export type PlayedLine = RecordedLine | SilenceLine;

/** What is known of a recording before it is played. */
export interface Scan {
  recording: Recording;
  /** Every device that it names, by chip number. */
  devices: ReadonlyMap<string, ListedDevice>;
  /** The first list that was read. */
  list: ListLine | undefined;
  calls: readonly CallLine[];
  /** Whether the list was read at the address of the public server. */
  isPublic: boolean;
  skipped: number;
  /** What happens before its line: uploads that were missed, and silences, by time. */
  early: readonly (UploadLine | SilenceLine)[];
  /** How many recovered uploads of the file are among them: the first ones. */
  moved: number;
}

/** The first things, up to a limit. */
class Kept<T> {
  readonly items: T[] = [];
  #characters = 0;

  /** @returns false once the limit is reached: nothing further is kept */
  add(item: T, characters: number): boolean {
    this.#characters += characters;
    if (this.items.length >= MAX_KEPT || this.#characters > MAX_CHARACTERS) return false;
    this.items.push(item);
    return true;
  }
}

/** What the scan knows of a device. */
interface Seen {
  /** When its channel was last lost, and came back after it. */
  downAt: number;
  upAt: number | undefined;
  /** When something last came over its channel. */
  heardAt: number;
  /** When its latest recovered upload is played. */
  playedAt: number;
}

/**
 * Opens a recording, and reads it as a whole before it is played. An upload that was missed has to be in the history before
 * its channel comes back, and a channel falls silent before it is noticed.
 * @throws RecordingError if it cannot be read
 */
export async function scan(file: string): Promise<Scan> {
  const recording = await Recording.open(file);
  const devices = new Map<string, ListedDevice>();
  const seen = new Map<string, Seen>();
  const calls = new Kept<CallLine>();
  const early = new Kept<UploadLine | SilenceLine>();
  let list: ListLine | undefined;
  let isPublic = false;
  let moved = 0;
  const note = (device: ListedDevice): void => {
    const known = devices.get(device.chipid);
    if (known ? known.name === null : devices.size < MAX_DEVICES)
      devices.set(device.chipid, device);
  };
  const of = (chipid: string): Seen => {
    let found = seen.get(chipid);
    if (!found) {
      found = { downAt: 0, upAt: undefined, heardAt: 0, playedAt: 0 };
      if (seen.size < MAX_DEVICES) seen.set(chipid, found);
    }
    return found;
  };
  const addEarly = (line: UploadLine | SilenceLine, size: number): void => {
    if (early.add(line, size) && line.kind === 'upload') moved++;
  };
  const read = (line: RecordedLine): void => {
    const chipid = 'chipid' in line ? (line.chipid as string | undefined) : undefined;
    if (chipid !== undefined) note({ chipid, name: null });
    if (line.kind === 'list') {
      line.devices?.forEach(note);
      if (line.devices) list ??= line;
      if (line.devices && line.path === 'devices/lists/') isPublic = true;
    } else if (line.kind === 'call') {
      calls.add(line, JSON.stringify(line).length);
    } else if (line.kind === 'channel') {
      const device = of(line.chipid);
      if (line.state === 'disconnected') {
        if (line.reason === 'SILENT')
          addEarly(
            { t: Math.min(line.t, device.heardAt + 1), kind: 'silence', chipid: line.chipid },
            0,
          );
        if (device.upAt !== undefined || device.downAt === 0) device.downAt = line.t;
        device.upAt = undefined;
      } else device.upAt = device.heardAt = line.t;
    } else if (line.kind === 'upload') {
      const device = of(line.chipid);
      if (!line.replayed) device.heardAt = line.t;
      else {
        const latest = device.upAt ?? line.t;
        const made = line.timestamp - recording.header.started;
        const earliest = Math.max(device.playedAt, device.downAt + 1);
        device.playedAt = Math.min(latest, Math.max(earliest, made));
        addEarly({ ...line, t: device.playedAt }, line.body.length);
      }
    }
  };
  for await (const lines of recording.lines()) lines.forEach(read);
  early.items.sort((a, b) => a.t - b.t);
  const { skipped } = recording;
  const kept = { calls: calls.items, early: early.items };
  return { recording, devices, list, isPublic, skipped, moved, ...kept };
}

/** The lines in the order in which they happen. */
async function* inOrder({ recording, early, moved }: Scan): AsyncGenerator<PlayedLine[]> {
  let at = 0;
  let replayed = 0;
  for await (const lines of recording.lines()) {
    const ordered: PlayedLine[] = [];
    for (const line of lines) {
      for (let next = early[at]; next && next.t <= line.t; next = early[++at]) ordered.push(next);
      if (line.kind === 'upload' && line.replayed && replayed++ < moved) continue;
      ordered.push(line);
    }
    yield ordered;
  }
  yield early.slice(at);
}

/**
 * Plays a recording once: each line at its time since the start, divided by the speed. The start counts, not the line
 * before, so that no delay adds up; lines that are due go out in one turn.
 * @param speed how many times as fast
 * @param play is called with each line; never throws
 * @throws RecordingError if it cannot be read any more; the reason of the signal
 */
export async function playOnce(
  found: Scan,
  speed: number,
  play: (line: PlayedLine) => void,
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now();
  let turn = start;
  for await (const lines of inOrder(found)) {
    for (const line of lines) {
      const due = start + line.t / speed;
      let now = performance.now();
      while (due - now > 0.5) {
        await sleep(Math.min(due - now, LONGEST_WAIT), undefined, { signal });
        turn = now = performance.now();
      }
      if (now - turn > TURN) {
        await setImmediate(undefined, { signal });
        turn = performance.now();
      }
      play(line);
    }
  }
  signal.throwIfAborted();
}
