import context from '@node-red/runtime/lib/nodes/context';

/** Readings of the store that wait, while it is held. */
let waiting: (() => void)[] | undefined;

/** Holds every reading of the slow context store. @returns lets them go */
export function holdContextStore(): () => void {
  const held: (() => void)[] = [];
  waiting = held;
  return () => {
    waiting = undefined;
    for (const answer of held) answer();
  };
}

/** A slow store, like one on another machine, which answers the later of two readings first. */
const slowStore = () => {
  const values = new Map<string, unknown>();
  const nothing = (): Promise<void> => Promise.resolve();
  let reading = 0;
  return {
    open: nothing,
    close: nothing,
    clean: nothing,
    delete: nothing,
    keys: (_scope: string, done: (error: null, keys: string[]) => void) => done(null, []),
    get(scope: string, key: string, done: (error: null, value: unknown) => void) {
      const answer = (): void => done(null, values.get(`${scope} ${key}`));
      if (waiting) waiting.push(answer);
      else setTimeout(answer, Math.max(1, 60 - 15 * reading++));
    },
    set(scope: string, key: string, value: unknown, done?: () => void) {
      values.set(`${scope} ${key}`, value);
      setTimeout(() => done?.(), 1);
    },
  };
};

/** Gives the running flow a context store that is slow to answer. */
export async function configureSlowContextStore(): Promise<void> {
  waiting = undefined;
  context.init({ contextStorage: { default: { module: slowStore } } });
  await context.load();
}
