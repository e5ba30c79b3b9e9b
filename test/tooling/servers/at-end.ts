const open: (() => unknown)[] = [];

/** Has something closed when the test that opened it is over, the latest first; for tests run by mocha alone. */
export function atEnd(close: () => unknown): void {
  open.push(close);
}

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});
