/** Turns whatever was thrown into an error. It may be a value that throws when it is read. */
export function asError(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  } catch {
    return new Error('A value was thrown that cannot be read.');
  }
}

/** The message of whatever was thrown. */
export const messageOf = (thrown: unknown): string => asError(thrown).message;
