/** An escape, a quote, or a number: whichever comes next. No match is long, however long a string is. */
const TOKEN = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{16,}$/;
const MAYBE_LONG = /(?:^|[:[,\s])-?\d{16}/;
const DIGITS = 16;

/** Whether so many digits follow each other: of the characters so far apart, one would be among them. */
function hasLongRun(text: string): boolean {
  const isDigit = (at: number): boolean => {
    const code = text.charCodeAt(at);
    return code >= 48 && code <= 57;
  };
  for (let at = DIGITS - 1; at < text.length; at += DIGITS) {
    if (!isDigit(at)) continue;
    let first = at;
    while (isDigit(first - 1)) first--;
    let end = at + 1;
    while (isDigit(end)) end++;
    if (end - first >= DIGITS) return true;
  }
  return false;
}

/**
 * Parses JSON without losing a digit: an integer beyond the safe ones, such as a chip number of 20
 * digits, becomes a string. Text without one goes to JSON.parse as it is.
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string): unknown {
  if (!hasLongRun(text) || !MAYBE_LONG.test(text)) return JSON.parse(text) as unknown;
  JSON.parse(text); // quoting digits must not mend what is not JSON
  let inString = false;
  const quoted = text.replace(TOKEN, (token) => {
    if (token === '"') inString = !inString;
    const loses = LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token));
    return loses && !inString ? `"${token}"` : token;
  });
  return JSON.parse(quoted) as unknown;
}
