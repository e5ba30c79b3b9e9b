/** Prints names and values in two columns, as they can stand in a document. */
export function table(
  title: string,
  rows: readonly (readonly [name: string, value: string])[],
): string {
  const width = Math.max(title.length, ...rows.map(([name]) => name.length));
  // Two at least, for the colon that aligns a column needs a dash beside it.
  const right = Math.max(2, ...rows.map(([, value]) => value.length));
  const line = (name: string, value: string): string =>
    `| ${name.padEnd(width)} | ${value.padStart(right)} |`;
  return [
    line(title, ''),
    `| ${'-'.repeat(width)} | ${'-'.repeat(right - 1)}: |`,
    ...rows.map(([name, value]) => line(name, value)),
  ].join('\n');
}

export const number = (value: number): string => value.toLocaleString('en-US');
