import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './npm.mjs';

/*
 * `node scripts/readme-addresses.mjs absolute|relative`, before and after a pack: on the pages of the registry and
 * of the Flow Library a relative address leads nowhere, and neither does one of a branch that moves on. While
 * package.json names no repository, as it does before a release, there is nothing to make them absolute with.
 */

/** Where the files of the release are, with a slash at the end: as they are, and as pages; and the site. */
function places({ homepage, repository, version }) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  const page = url?.replace(/^git\+/, '').replace(/\.git$/, '');
  return (
    page && {
      raw: `${page}/raw/v${version}/`,
      page: `${page}/blob/v${version}/`,
      site: homepage?.replace(/\/?$/, '/'),
    }
  );
}

/** The indexes of the documentation, and where they are below the site. */
const INDEXES = [
  ['docs/README.zh-CN.md', 'zh/'],
  ['docs/README.md', ''],
];

/** An address in Markdown: `](docs/use/errors.md)`; not one with a scheme, nor of a place on the page itself. */
const RELATIVE = /(!?)(\[[^\]]*\]\()(?![a-z]+:|#)([^)\s]+)/g;

function absolute(text, { raw, page, site }) {
  const onSite = INDEXES.reduce(
    (all, [index, place]) => (site ? all.replaceAll(`](${index})`, `](${site}${place})`) : all),
    text,
  );
  return onSite.replace(
    RELATIVE,
    (_all, mark, label, path) => `${mark}${label}${mark ? raw : page}${path}`,
  );
}

function relative(text, { raw, page, site }) {
  const here = text.replaceAll(`](${raw}`, '](').replaceAll(`](${page}`, '](');
  return INDEXES.reduce(
    (all, [index, place]) => (site ? all.replaceAll(`](${site}${place})`, `](${index})`) : all),
    here,
  );
}

const to = { absolute, relative }[process.argv[2]];
if (!to) throw new Error('Usage: node scripts/readme-addresses.mjs absolute|relative');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const where = places(manifest);
// npm packs a README in whatever language.
for (const name of where ? ['README.md', 'README.zh-CN.md'] : []) {
  const readme = join(root, name);
  writeFileSync(readme, to(readFileSync(readme, 'utf8'), where));
}
