// For both halves of the node: nothing here needs Node.js.

/**
 * The status of a listener whose devices several processes share, in English: no catalogue can have one text for each
 * pair of numbers. The editor half puts it into the reader's language.
 */
export const processesText = (channels: string, processes: number): string =>
  `${channels} · ${processes} ${processes === 1 ? 'process' : 'processes'}`;

const FORM = /^(\d+\/\d+) · (\d+) process(?:es)?$/;

/** Takes such a text apart. */
export function readProcessesText(text: unknown): { channels: string; number: number } | undefined {
  const [, channels, number] = typeof text === 'string' ? (FORM.exec(text) ?? []) : [];
  return channels === undefined ? undefined : { channels, number: Number(number) };
}
