/** Writes parameters as a URL query, which is also the body of a form: percent-encoded, ASCII only. */
export function encodeQuery(params: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(params)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
}
