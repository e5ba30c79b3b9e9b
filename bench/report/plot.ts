import type { Results, Role, Row, Table } from './results';
import { least, median, most } from './statistics';

/** One picture in the plot: a column of a work. */
interface Panel {
  table: string;
  key: string;
  title: string;
  unit: string;
}

const PANELS: readonly Panel[] = [
  { table: 'push', key: 'cpu', title: 'CPU of a push', unit: 'µs' },
  { table: 'uploads-1', key: 'cpu', title: 'CPU of an upload, one channel', unit: 'µs' },
  { table: 'uploads-100', key: 'cpu', title: 'CPU of an upload, 100 channels', unit: 'µs' },
  { table: 'signing', key: 'cpu', title: 'CPU of a signature', unit: 'µs' },
  { table: 'channels-ws', key: 'used', title: 'Memory of a channel, ws', unit: 'KB' },
  { table: 'channels-wss', key: 'used', title: 'Memory of a channel, wss', unit: 'KB' },
  { table: 'growth-push', key: 'cpu', title: 'CPU of a push, by devices', unit: 'µs' },
  { table: 'growth-uploads', key: 'cpu', title: 'CPU of an upload, by devices', unit: 'µs' },
];

const LEGEND: readonly (readonly [Role, string])[] = [
  ['limit', 'the limit'],
  ['floor', "the limit and a bare node's send"],
  ['today', 'what people use today'],
  ['ours', 'this package'],
];

// Its own ground, so that it can be read whatever it stands on.
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; }
  .ground { fill: #ffffff; } .range { stroke: #24292f; stroke-width: 1.5; }
  .limit { fill: #8c959f; } .floor { fill: #c4cad0; } .today { fill: #d4812c; } .ours { fill: #2f74c0; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .ground { fill: #161b22; } .range { stroke: #e6edf3; }
    .limit { fill: #768390; } .floor { fill: #545d68; } .today { fill: #d4812c; } .ours { fill: #539bf5; }
  }`;

const WIDTH = 860;
const MARGIN = 20;
const LABELS = 290;
const NUMBERS = 80;
const BAR = 16;
const LINE = 23;
/** A character is at most about so wide, whatever the font. */
const CHARACTER = 8;

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${x}" y="${y}" ${attributes}>${escape(content)}</text>`;

const figure = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

/** The bar of a median, and a line from the least to the most. */
function bar(row: Row, { key, unit }: Panel, top: number, longest: number): string {
  const values = row.values[key] ?? [];
  const scale = (WIDTH - 2 * MARGIN - LABELS - NUMBERS) / longest;
  const left = MARGIN + LABELS;
  const x = (value: number): string => (left + value * scale).toFixed(1);
  const middle = top + BAR / 2;
  return [
    text(left - 8, top + 13, row.label, 'text-anchor="end"'),
    `<rect class="${row.role}" x="${left}" y="${top}" width="${(median(values) * scale).toFixed(1)}" height="${BAR}" rx="2"/>`,
    `<line class="range" x1="${x(least(values))}" x2="${x(most(values))}" y1="${middle}" y2="${middle}"/>`,
    text(WIDTH - MARGIN, top + 13, `${figure(median(values))} ${unit}`, 'text-anchor="end"'),
  ].join('\n');
}

function panel(of: Panel, { rows }: Table, top: number): { svg: string; height: number } {
  const shown = rows.filter(({ values }) => (values[of.key]?.length ?? 0) > 0);
  const longest = Math.max(...shown.map(({ values }) => most(values[of.key] ?? [])));
  const bars = shown.map((row, index) => bar(row, of, top + LINE * (index + 1), longest));
  const title = text(MARGIN, top + 13, of.title, 'class="title"');
  return { svg: [title, ...bars].join('\n'), height: LINE * (shown.length + 1) + 14 };
}

function legend(top: number): string {
  let next = MARGIN;
  return LEGEND.map(([role, words]) => {
    const x = next;
    next += 42 + words.length * CHARACTER;
    return `<rect class="${role}" x="${x}" y="${top}" width="12" height="12" rx="2"/>${text(x + 18, top + 11, words)}`;
  }).join('\n');
}

/** Draws what a run has found, as an SVG that is good in light and dark. */
export function plot({ tables }: Results): string {
  let top = MARGIN + 30;
  const parts: string[] = [legend(MARGIN)];
  for (const of of PANELS) {
    const table = tables.find(({ id }) => id === of.table);
    if (!table) continue;
    const { svg, height } = panel(of, table, top);
    parts.push(svg);
    top += height;
  }
  const box = `width="${WIDTH}" height="${top + 6}" viewBox="0 0 ${WIDTH} ${top + 6}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-label="What was measured">
<style>${STYLE}</style>
<rect class="ground" width="100%" height="100%" rx="8"/>
${parts.join('\n')}
</svg>
`;
}
