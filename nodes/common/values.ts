// Reads values of properties and messages, for both halves of a node: nothing here needs Node.js.

/** The longest time that a timer can wait, in seconds. */
export const MAX_SECONDS = 2_147_483;

/** Reads a number property, which the editor saves as text. Empty or missing is the usual value. */
export function numberOf(value: number | string | null | undefined, usual: number): number {
  if (value === undefined || value === null) return usual;
  if (typeof value === 'string' && value.trim() === '') return usual;
  return Number(value);
}

/** Whether a value has fields: an object, not an array or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a text that has to be a JSON object; undefined if it is anything else. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What Node-RED replaces in the properties of a node when a flow starts; the second form is its older one. */
const VARIABLE = /^\$(?:\{(\S+)\}|\((\S+)\))$/;

/** The name of the environment variable that a property refers to; undefined if it is a value itself. */
export function variableName(value: unknown): string | undefined {
  const match = typeof value === 'string' ? VARIABLE.exec(value) : null;
  return match?.[1] ?? match?.[2];
}

/** Whether a property refers to an environment variable. */
export const isVariable = (value: unknown): boolean => variableName(value) !== undefined;
