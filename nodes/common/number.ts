/** Reads a number property, which the editor saves as text. Empty or missing is the usual value. */
export function numberOf(value: number | string | undefined, usual: number): number {
  if (value === undefined || (typeof value === 'string' && value.trim() === '')) return usual;
  return Number(value);
}
