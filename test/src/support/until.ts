/** Waits until something is so, and fails if it does not become so in 8 s. */
export async function until(holds: () => boolean, what = 'what the test waits for'): Promise<void> {
  const end = Date.now() + 8000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`${what} did not come about within 8 s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Lets everything that is ready happen, a few rounds of the event loop. */
export async function settled(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
