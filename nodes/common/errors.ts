/** Turns whatever was thrown into an error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/** The message of whatever was thrown. */
export const messageOf = (thrown: unknown): string => asError(thrown).message;
