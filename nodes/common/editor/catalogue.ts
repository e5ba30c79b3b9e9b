/** Texts without values: a list of devices asks for the same few again and again, and each search takes long. */
const known = new Map<string, string>();

/** Text in the reader's language, from this node's message catalogue. */
export function t(key: string, values?: Record<string, unknown>): string {
  const text = known.get(key);
  if (text !== undefined && values === undefined) return text;
  const found = RED._(`${CATALOGUE}:${key}`, values);
  // A missing one may be loaded later.
  if (values === undefined && !found.endsWith(key)) known.set(key, found);
  return found;
}

/** A text with what it is about before it, with the language's own colon. */
export function said(what: string, text: string): string {
  return t('common.said', { what, text });
}
