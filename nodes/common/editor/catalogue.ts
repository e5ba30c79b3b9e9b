/** Text in the reader's language, from this node's message catalogue. */
export function t(key: string, values?: Record<string, unknown>): string {
  return RED._(`${CATALOGUE}:${key}`, values);
}

/** A text with what it is about before it, with the language's own colon. */
export function said(what: string, text: string): string {
  return t('common.said', { what, text });
}
