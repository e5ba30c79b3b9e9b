const BOUND = 30_000;

/** Waits until something is so. The bound ends a test that hangs; no verdict depends on it. */
export async function until(holds: () => boolean, what = 'what the test waits for'): Promise<void> {
  const end = Date.now() + BOUND;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`${what} did not come about within ${BOUND / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Lets everything that is ready happen, a few rounds of the event loop. */
export async function settled(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
