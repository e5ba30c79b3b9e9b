import { isObject } from './json';

/** Keys that stand for what JSON cannot hold. */
const BYTES = '\0bytes';
const DATE = '\0date';

/** As JSON, in which Buffers and dates survive. @throws TypeError or RangeError if it cannot be JSON */
export const encode = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key, json: unknown) {
    const raw = this[key];
    if (Buffer.isBuffer(raw)) return { [BYTES]: raw.toString('base64') };
    if (raw instanceof Date) return { [DATE]: raw.getTime() };
    return json;
  });

/** What {@link encode} has made JSON of. @throws SyntaxError */
export const decode = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) => {
    if (!isObject(value)) return value;
    if (typeof value[BYTES] === 'string') return Buffer.from(value[BYTES], 'base64');
    if (DATE in value) return new Date((value[DATE] as number | null) ?? NaN);
    return value;
  });
