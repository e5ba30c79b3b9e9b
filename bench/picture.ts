import { quantity } from './report';
import type { Measured } from './results';
import { summarize } from './statistics';

/** What is shown: the scenarios, and the column of each. */
const SHOWN = [
  ['push', 'cpu'],
  ['uploads-1', 'cpu'],
  ['uploads-100', 'cpu'],
  ['channels-ws', 'used'],
  ['channels-wss', 'used'],
  ['start', 'cpu'],
] as const;

const WIDTH = 860;
const LEFT = 310;
const LONGEST = 440;
const LINE = 23;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; } .title { font-weight: 600; }
  .ground { fill: #ffffff; stroke: #d0d7de; } .range { stroke: #24292f; stroke-width: 1.5; }
  .limit { fill: #8c959f; } .floor { fill: #c4cad0; } .core { fill: #d4812c; } .ours { fill: #2f74c0; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .ground { fill: #161b22; stroke: #30363d; } .range { stroke: #e6edf3; }
    .limit { fill: #768390; } .floor { fill: #545d68; } .core { fill: #d4812c; } .ours { fill: #539bf5; }
  }`;

const LEGEND = [
  ['limit', 'a bare program', 20],
  ['floor', 'the same in a bare node', 165],
  ['core', "Node-RED's own nodes", 360],
  ['ours', 'this package', 545],
] as const;

const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

const text = (x: number, y: number, words: string, rest = ''): string =>
  `<text x="${x}" y="${y}"${rest}>${escape(words)}</text>`;

const box = (kind: string, x: number, y: number, width: number): string =>
  `<rect class="${kind}" x="${x}" y="${y}" width="${width.toFixed(1)}" height="16" rx="2"/>`;

/** A scenario's bars, with the range of the rounds. @returns the lines, and where they end */
function chart({ scenario, rows }: Measured, key: string, top: number): [string[], number] {
  const column = scenario.columns.find((each) => each.key === key);
  if (!column) return [[], top];
  const summaries = rows.map(({ values }) => summarize(values[key] ?? []));
  const scale = LONGEST / Math.max(...summaries.map(({ most }) => most));
  const lines = [text(20, top + 12, `${scenario.title}: ${column.label}`, ' class="title"')];
  let y = top + LINE;
  for (const [at, { median, least, most }] of summaries.entries()) {
    const { name = '', label = '' } = rows[at] ?? {};
    const [low, high] = [least, most].map((value) => (LEFT + value * scale).toFixed(1));
    lines.push(
      text(LEFT - 8, y + 13, label, ' text-anchor="end"'),
      box(name.split('-', 1)[0] ?? '', LEFT, y, median * scale),
      `<line class="range" x1="${low}" x2="${high}" y1="${y + 8}" y2="${y + 8}"/>`,
      text(WIDTH - 20, y + 13, quantity(median, column), ' text-anchor="end"'),
    );
    y += LINE;
  }
  return [lines, y + 14];
}

/** A picture of what was measured, as SVG. Its colours follow the reader's, and it has a ground of its own. */
export function picture(results: readonly Measured[]): string {
  const lines = LEGEND.flatMap(([kind, words, x]) => [
    box(kind, x, 16, 16),
    text(x + 22, 29, words),
  ]);
  let height = 50;
  for (const [name, key] of SHOWN) {
    const result = results.find(({ scenario }) => scenario.name === name);
    if (!result) continue;
    const [more, end] = chart(result, key, height);
    lines.push(...more);
    height = end;
  }
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="What was measured">`;
  const ground = '<rect class="ground" width="100%" height="100%" rx="8"/>';
  return [head, `<style>${STYLE}</style>`, ground, ...lines, '</svg>', ''].join('\n');
}
