import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError, root } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * `node scripts/licenses.mjs` writes docs/licenses.md: every package that is installed along with this
 * one, by the lock file, with the text of its licence.
 */

function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const found = new Map();
  const visit = (name) => {
    const path = `node_modules/${name}`;
    if (found.has(name) || !packages[path]) return;
    const { version, license, dependencies = {} } = packages[path];
    found.set(name, { name, version, license, text: licenceText(path) });
    for (const dependency of Object.keys(dependencies)) visit(dependency);
  };
  for (const name of Object.keys(packages[''].dependencies)) visit(name);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function licenceText(path) {
  const folder = join(root, path);
  const file = existsSync(folder) && readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new SetupError(`${path} has no licence file, or is not installed.`);
  return readFileSync(join(folder, file), 'utf8').trim();
}

function page(packages) {
  const width = (values) => Math.max(...values.map((value) => value.length));
  const rows = packages.map(({ name, version, license }) => [`\`${name}\``, version, license]);
  const table = [['package', 'version', 'licence'], ...rows];
  const widths = [0, 1, 2].map((column) => width(table.map((row) => row[column])));
  const line = (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  const rule = `| ${widths.map((size) => '-'.repeat(size)).join(' | ')} |`;
  const texts = packages.map(({ name, text }) => `## ${name}\n\n\`\`\`\n${text}\n\`\`\``);
  return `# Licences

This package is under the [Apache License 2.0](../LICENSE). These are installed along with it. The list is made
by \`node scripts/licenses.mjs\`.

${[line(table[0]), rule, ...table.slice(1).map(line)].join('\n')}

${texts.join('\n\n')}
`;
}

try {
  writeFileSync(join(root, 'docs', 'licenses.md'), page(runtimePackages()));
} catch (error) {
  fail(error);
}
