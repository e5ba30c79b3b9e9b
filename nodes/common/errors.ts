/** What was thrown, as an error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/** What was thrown, in words. */
export const messageOf = (thrown: unknown): string => asError(thrown).message;
