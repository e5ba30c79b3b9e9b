import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError, npm, root } from './npm.mjs';

/*
 * `node scripts/licenses.mjs [FILE]` writes dist/licenses.md, which is packed: every package that is installed along with this one,
 * with the text of its licence.
 */

function licenceText(path) {
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new SetupError(`${path} has no licence file.`);
  return readFileSync(join(path, file), 'utf8').trim();
}

const installed = JSON.parse(npm(['query', '.prod']));
// The first of them is this package itself.
const packages = installed.filter(({ location }) => location);
if (packages.length === 0) throw new SetupError('No run-time dependencies are installed.');
packages.sort((a, b) => a.name.localeCompare(b.name, 'en'));
const row = ({ name, version, license }) => `| \`${name}\` | ${version} | ${license} |`;
const text = ({ name, path }) => `## ${name}\n\n\`\`\`\n${licenceText(path)}\n\`\`\``;
writeFileSync(
  resolve(process.argv[2] ?? join(root, 'dist', 'licenses.md')),
  `# Licences

This package is under the Apache License 2.0. The packages below are installed along with it, with their own licences, all of
which allow use in commercial products: MIT, ISC or the licence of Python. Their texts follow the table.

| package | version | licence |
| --- | --- | --- |
${packages.map(row).join('\n')}

${packages.map(text).join('\n\n')}
`,
);
