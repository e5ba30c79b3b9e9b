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

/**
 * The shared texts. The editor fills no values into the text of a status, so each number of commands that
 * wait has a text of its own.
 */
function sharedTexts(file) {
  const texts = JSON.parse(read(`nodes/common/locales/${file}`));
  const { 'waiting-n': waiting, ...status } = texts.status;
  for (let n = 1; n <= 99; n++) status[`waiting-${n}`] = waiting.replace('__n__', n);
  return { ...texts, status };
}

/** Template, script, and for each language the labels and the help. */
async function editor(node) {
  const from = `nodes/${node}`;
  const to = `dist/${from}`;
  const row = (_comment, name) => read(`nodes/common/editor/${name}.html`);
  const template = read(`${from}/${node}.html`).replace(/<!-- (\S+) -->/g, row);
  const script = await bundle(node, `registerType("device-cloud-${node}",{`);
  write(`${to}/${node}.html`, `${template}<script type="text/javascript">${script}</script>\n`);
  for (const file of readdirSync(`${from}/locales`).filter((name) => name.endsWith('.json'))) {
    const language = file.replace('.json', '');
    const own = JSON.parse(read(`${from}/locales/${file}`));
    const help = read(`${from}/locales/${language}.md`);
    const tag = `<script type="text/markdown" data-help-name="device-cloud-${node}">`;
    write(
      `${to}/locales/${language}/${node}.json`,
      JSON.stringify({ ...sharedTexts(file), ...own }),
    );
    write(`${to}/locales/${language}/${node}.html`, `${tag}\n${help}</script>\n`);
  }
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
    const own = JSON.parse(read(`${from}/locales/${file}`));
    const texts = JSON.stringify({ ...sharedTexts(file), ...own });
    write(`${to}/locales/${language}/${name}.json`, texts);
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
await Promise.all([
  ...Object.keys(manifest['node-red'].nodes).map(editor),
  ...Object.keys(manifest['node-red'].plugins).map(plugin),
]);
// One node's folder is enough, since the look-up goes over the whole module.
cpSync('icons', 'dist/nodes/app/icons', { recursive: true });
