import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError, formatFile, npm, root } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * `node scripts/licenses.mjs` writes docs/inside/licenses.md: every package that is installed along with this
 * one, with the text of its licence.
 */

const page = join(root, 'docs', 'inside', 'licenses.md');

function licenceText(path) {
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new SetupError(`${path} has no licence file.`);
  return readFileSync(join(path, file), 'utf8').trim();
}

try {
  const installed = JSON.parse(npm(['query', '.prod']));
  // The first of them is this package itself.
  const packages = installed.filter(({ location }) => location);
  if (packages.length === 0) throw new SetupError('No run-time dependencies are installed.');
  packages.sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const row = ({ name, version, license }) => `| \`${name}\` | ${version} | ${license} |`;
  const text = ({ name, path }) => `## ${name}\n\n\`\`\`\n${licenceText(path)}\n\`\`\``;
  const written = `# Licences

This package is under the [Apache License 2.0](../../LICENSE). The packages below are installed along with it, with their own
licences, all of which allow use in commercial products: MIT, ISC or the licence of Python. Their texts follow the table.
The page is made by \`node scripts/licenses.mjs\`, which reads what is installed.

| package | version | licence |
| --- | --- | --- |
${packages.map(row).join('\n')}

${packages.map(text).join('\n\n')}

---

[All pages](../README.md)
`;
  writeFileSync(page, written);
  formatFile(page);
} catch (error) {
  fail(error);
}
