/** Counts the pixels of a colour on the chart of a page. */
export const PIXELS = (color: number[]): string => `(() => {
  const canvas = document.querySelector('canvas');
  if (!canvas) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const [r, g, b] = ${JSON.stringify(color)};
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] > 0) count += 1;
  }
  return count;
})()`;

export const rgb = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
