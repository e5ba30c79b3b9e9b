import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

process.chdir(import.meta.dirname);
const read = (path) => readFileSync(path, 'utf8');
const manifest = JSON.parse(read('package.json'));

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Removes from dist/nodes what no source stands behind any more. */
function clean() {
  const built = existsSync('dist/nodes') ? readdirSync('dist/nodes') : [];
  for (const node of built) {
    const stale = existsSync(`nodes/${node}`) ? ['locales', 'icons', `${node}.html`] : [''];
    for (const path of stale) {
      rmSync(join('dist/nodes', node, path), { recursive: true, force: true });
    }
  }
}

/** The editor half as one script. Shared code is bundled into each: from `resources/` it would load too late. */
async function bundle(node, registration) {
  const { outputFiles } = await build({
    entryPoints: [`nodes/${node}/${node}.editor.ts`],
    tsconfig: 'tsconfig.editor.json',
    define: { CATALOGUE: JSON.stringify(`${manifest.name}/${node}`) },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'utf8',
    minify: true,
  });
  const script = outputFiles[0].text;
  // The Flow Library's scorecard reads the node's type from a literal, and from nothing else.
  if (!script.includes(registration)) {
    throw new Error(`nodes/${node}: ${registration} has to be there literally`);
  }
  return script;
}

/** How far the statuses with a number count: commands that wait. */
const COUNTS = { 'waiting-n': 99 };

/** The editor fills no values into the text of a status, so each number has a text of its own. */
function numbered([key, text]) {
  if (!(key in COUNTS)) return [[key, text]];
  const numbers = Array.from({ length: COUNTS[key] }, (_, index) => index + 1);
  return numbers.map((n) => [key.replace(/n$/, n), text.replace('__n__', n)]);
}

/** A node's own texts and the shared ones. */
function texts(node, file) {
  const shared = JSON.parse(read(`nodes/common/locales/${file}`));
  const own = JSON.parse(read(`nodes/${node}/locales/${file}`));
  const statuses = Object.entries({ ...shared.status, ...own.status });
  return { ...shared, ...own, status: Object.fromEntries(statuses.flatMap(numbered)) };
}

/**
 * The links of a help to pages of docs/, as the editor has them: on the site of the documentation, which a release
 * names as the `homepage`. Before that there is nowhere to lead to, and the title of the page stays.
 */
const helpLinks = (help) =>
  help.replace(/\[([^\]]+)\]\((?:\.\.\/)+docs\/([^)#]+?)(\.zh-CN)?\.md(#[^)]*)?\)/g, (...parts) => {
    const [, text, page, chinese, anchor = ''] = parts;
    if (!manifest.homepage) return `*${text}*`;
    const site = manifest.homepage.replace(/\/?$/, chinese ? '/zh/' : '/');
    return `[${text}](${site}${page}${encodeURI(anchor)})`;
  });

/** Template, script, and for each language the labels and the help. */
async function editor(node) {
  const from = `nodes/${node}`;
  const to = `dist/${from}`;
  const row = (_comment, name) => read(`nodes/common/editor/${name}.html`);
  const template = read(`${from}/${node}.html`).replace(/<!-- (\S+) -->/g, row);
  const script = await bundle(node, `registerType("device-cloud-${node}",{`);
  write(`${to}/${node}.html`, `${template}<script type="text/javascript">${script}</script>\n`);
  // Node-RED would find it in any node's folder, the Flow Library only in this one's.
  cpSync(`icons/device-cloud-${node}.svg`, `${to}/icons/device-cloud-${node}.svg`);
  for (const file of readdirSync(`${from}/locales`).filter((name) => name.endsWith('.json'))) {
    const language = file.replace('.json', '');
    const help = helpLinks(read(`${from}/locales/${language}.md`));
    const tag = `<script type="text/markdown" data-help-name="device-cloud-${node}">`;
    write(`${to}/locales/${language}/${node}.json`, JSON.stringify(texts(node, file)));
    // Says to the style sheet that the help is ours.
    const mark = '\n<div class="device-cloud-help"></div>\n';
    write(`${to}/locales/${language}/${node}.html`, `${tag}\n${help}${mark}</script>\n`);
  }
}

/** The module that Node-RED loads at each start, of a node that only has to be registered. */
function registration(node) {
  if (existsSync(`nodes/${node}/${node}.ts`)) return;
  const load = `() => require('./${node}.runtime')`;
  write(
    `dist/nodes/${node}/${node}.js`,
    `module.exports = require('../common/register').actionNode('device-cloud-${node}', ${load});\n`,
  );
}

/** A part of the editor that is no node: its style and script, and the labels for each language. */
async function plugin(name) {
  const from = `nodes/${name}`;
  const to = `dist/${from}`;
  const script = await bundle(name, `registerPlugin("device-cloud-${name}",{`);
  const template = read(`${from}/${name}.html`);
  write(`${to}/${name}.html`, `${template}<script type="text/javascript">${script}</script>\n`);
  for (const file of readdirSync(`${from}/locales`)) {
    const language = file.replace('.json', '');
    write(`${to}/locales/${language}/${name}.json`, JSON.stringify(texts(name, file)));
  }
}

const [what] = process.argv.slice(2);
// `node build.mjs release`: from nothing, and without source maps, whose sources are not packed.
if (what === 'release') rmSync('dist', { recursive: true, force: true });
// `node build.mjs editor` leaves the run time as it is.
if (what !== 'editor') {
  const options = what === 'release' ? ['--sourceMap', 'false'] : [];
  const tsc = ['node_modules/typescript/bin/tsc', ...options];
  execFileSync(process.execPath, tsc, { stdio: 'inherit' });
}
clean();
Object.keys(manifest['node-red'].nodes).forEach(registration);
await Promise.all([
  ...Object.keys(manifest['node-red'].nodes).map(editor),
  ...Object.keys(manifest['node-red'].plugins).map(plugin),
]);
