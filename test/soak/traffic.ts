import type { Dice } from './dice';

/** What a device says: how it tells its uploads apart decides what can be seen of their order. */
export type Manner = 'serial text' | 'serial JSON' | 'constant' | 'few values';

const MANNERS: readonly Manner[] = ['serial text', 'serial JSON', 'constant', 'few values'];

/** The manner of a device, by its place among the devices. */
export const mannerOf = (index: number): Manner => MANNERS[index % MANNERS.length] ?? 'constant';

/** Whether each upload of a device has a body of its own. */
export const isUnique = (manner: Manner): boolean => manner.startsWith('serial');

/** A body longer than what recovery remembers of one as it is. */
const LONG = 'x'.repeat(200);

/** Line ends and commas, of which a history of the public server loses something. */
function lossyBodyOf(manner: Manner, serial: number, dice: Dice): string {
  switch (manner) {
    case 'serial text':
      return `reading,${serial}\r\n`;
    case 'serial JSON':
      return `${JSON.stringify({ t: 21.5, serial, h: 40 })}\r\n`;
    case 'constant':
      return dice.pick(['21.5\r\n', '21.5', ' ', ',']);
    case 'few values':
      // Of these nothing is left that tells them apart.
      return JSON.stringify({ t: dice.pick([21.4, 21.5, 21.6]), h: 40 });
  }
}

function bodyOf(manner: Manner, serial: number, dice: Dice): string {
  switch (manner) {
    case 'serial text':
      return `reading ${serial}`;
    case 'serial JSON':
      return JSON.stringify(serial % 10 === 0 ? { serial, note: LONG } : { serial });
    case 'constant':
      return '21.5';
    case 'few values':
      return JSON.stringify({ t: dice.pick([21.4, 21.5, 21.6]) });
  }
}

/** Milliseconds between two looks at how many uploads are due. */
const TICK = 10;
/** Now and then a device sends this many at once. */
const BURST = 40;

/**
 * Lets the devices upload at a rate in all, until it is stopped.
 * @param isLossy whether their bodies are such that a history of the public server loses something of them
 * @param upload lets a device upload, and writes down that the service has accepted it
 * @returns stops it
 */
export function startTraffic(
  chipids: readonly string[],
  rate: number,
  dice: Dice,
  isLossy: boolean,
  upload: (chipid: string, body: string) => void,
): () => void {
  const started = performance.now();
  const body = isLossy ? lossyBodyOf : bodyOf;
  let serial = 0;

  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1000) * rate;
    while (serial < due) {
      const index = dice.roll(chipids.length);
      const times = dice.roll(500) === 0 ? BURST : 1;
      for (let count = 0; count < times; count++) {
        upload(chipids[index] ?? '', body(mannerOf(index), ++serial, dice));
      }
    }
  }, TICK);
  return () => clearInterval(timer);
}
