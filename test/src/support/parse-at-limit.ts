import { parseJson } from '../../../src/util/json';
import * as contents from '../../tooling/json-contents';

/* A process of its own: parses contents as long as an answer may be, and prints what came of each. */

/** Short enough to be compared: of an array its length and its last item, of a long text its length. */
function summary(value: unknown): unknown {
  if (typeof value === 'string' && value.length > 100) return `${value.length} characters`;
  if (Array.isArray(value)) return { length: value.length, last: summary(value.at(-1)) };
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, summary(item)]));
}

function outcomeOf(bytes: Buffer): unknown {
  try {
    return summary(parseJson(bytes));
  } catch (error) {
    return String(error);
  }
}

const names = process.argv.slice(2);
for (const { name, make } of Object.values(contents)) {
  if (names.includes(name)) console.log(JSON.stringify({ name, outcome: outcomeOf(make()) }));
}
