/** How the service writes `body` in history records: not shown (sections 2.3 to 2.5). */
export type Encoding = 'text' | 'base64';

/** The setting; `auto`: the encoding is learned. */
export type EncodingSetting = Encoding | 'auto';

/**
 * What uploads that came both ways, live and from the history, have shown about the history of an application. All
 * its devices share this, so that a new one need not learn it again.
 */
export class HistoryFacts {
  /** How bodies are written; undefined until an upload has shown it. */
  encoding: Encoding | undefined;
  /** Whether a text upload has shown it: binary data may be in Base64 in any history. */
  isProven = false;
  /** The time zone of `create_time`, in milliseconds ahead of UTC; undefined until an upload has shown it. */
  zone: number | undefined;
  private readonly reported = new Set<string>();

  /** Whether a text has not been reported yet: a wrong setting is reported only once. */
  isNews(text: string): boolean {
    if (this.reported.has(text)) return false;
    this.reported.add(text);
    return true;
  }
}
