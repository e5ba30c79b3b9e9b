/** Levels of arrays and objects inside each other. Node-RED copies a message with a recursive function. */
export const MAX_DEPTH = 100;
/**
 * Arrays and objects, and fields of objects, in one text. Each takes up to 200 bytes of memory, and as
 * much again in each copy of a message, however short its text is. The shortest record of the service's
 * document takes 70 bytes of text (section 2), so 64 MiB of records stay below both limits.
 */
export const MAX_CONTAINERS = 1_000_000;
export const MAX_FIELDS = 5_000_000;

/** The error for text that is not parsed, although it may be JSON: its value would overload whatever handles it. */
export class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError';
  /**
   * @param what ends the sentence "the answer is …"
   * @param advice what to do about it
   */
  constructor(
    readonly what: string,
    readonly advice: string,
  ) {
    super(`The JSON is ${what}.`);
  }
}

export const tooDeep = (): JsonLimitError =>
  new JsonLimitError(
    `nested deeper than ${MAX_DEPTH} levels`,
    "Reduce the nesting where it is produced, for example in the device's firmware.",
  );

export const tooMany = (): JsonLimitError =>
  new JsonLimitError(
    'of more than 1,000,000 arrays and objects, or 5,000,000 fields',
    'Ask for less at a time, such as fewer days.',
  );
