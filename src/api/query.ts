/** Writes parameters as a URL query, which is also the body of a form: percent-encoded, ASCII only. */
export function encodeQuery(params: Readonly<Record<string, string | number | boolean>>): string {
  let text = '';
  for (const [name, value] of Object.entries(params)) {
    text += `${text === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}
