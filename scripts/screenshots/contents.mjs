import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a page that shows each picture in every editor, theme and language side by side. */
export function writeContents(folder, columns, names) {
  const cell = (column, name) =>
    existsSync(join(folder, column, `${name}.png`))
      ? `<td><img src="${column}/${name}.png" loading="lazy" /></td>`
      : '<td></td>';
  const row = (name) =>
    `<tr id="${name}"><th>${name}</th>${columns.map((column) => cell(column, name)).join('')}</tr>`;
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><meta charset="utf-8" /><title>What the editor shows</title>
<style>
  body { font: 14px sans-serif; background: #ddd; }
  th { padding: 8px; text-align: left; vertical-align: top; position: sticky; left: 0; background: #ddd; }
  td { padding: 8px; vertical-align: top; }
  img { max-width: 640px; }
</style>
<table><tr><th></th>${columns.map((column) => `<th>${column}</th>`).join('')}</tr>
${names.map(row).join('\n')}
</table>
`,
  );
}
