/** An escape, a quote, or a number: whichever comes next. No match is long, however long a string is. */
const TOKEN = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;
/** So many digits may be too many for a number. */
const LONG = 16;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/** What stands before a number in JSON, or nothing at all. */
const beforeNumber = /^[:[,\s]?$/;

/**
 * Whether something in a text looks like a long integer. Of so many digits in a row one stands at
 * every sixteenth place, and no more has to be looked at: a pattern takes three times as long.
 */
function mayHaveLongInteger(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let first = at;
    while (isDigit(text.charCodeAt(first - 1))) first--;
    while (isDigit(text.charCodeAt(at + 1))) at++;
    if (at - first + 1 < LONG) continue;
    const before = text[first - 1] === '-' ? first - 2 : first - 1;
    if (beforeNumber.test(text.charAt(before))) return true;
  }
  return false;
}

/**
 * Parses JSON without losing a digit: an integer beyond the safe ones, such as a chip number of 20
 * digits, becomes a string. Text without one goes to JSON.parse as it is.
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string): unknown {
  if (!mayHaveLongInteger(text)) return JSON.parse(text) as unknown;
  JSON.parse(text); // quoting digits must not mend what is not JSON
  let inString = false;
  const quoted = text.replace(TOKEN, (token) => {
    if (token === '"') inString = !inString;
    const loses = LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token));
    return loses && !inString ? `"${token}"` : token;
  });
  return JSON.parse(quoted) as unknown;
}
