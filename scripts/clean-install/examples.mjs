import { setTimeout as sleep } from 'node:timers/promises';
import { atPort, startBroker } from '../../dist/test/tooling/servers/broker.js';
import { examples as inRepository } from '../examples.mjs';
import { SetupError } from '../npm.mjs';

const PACKAGE = '@device-cloud/node-red-device-cloud';
const MENU = `/library/examples/flows/${PACKAGE}`;
const WATCHED_FOR_MS = 3000;

/**
 * Tries each example alone, then all side by side, as they can be imported.
 * @returns whether nothing was wrong; what was, it prints
 */
export async function tryExamples(red) {
  const broker = await startBroker();
  let well = true;
  const say = (name, problems) => {
    console.log([`  ${problems.length > 0 ? 'WRONG' : 'ok'}: ${name}`, ...problems].join('\n    '));
    well &&= problems.length === 0;
  };
  try {
    const examples = await readExamples(red, broker.port);
    say(`${examples.length} examples in the import menu`, differences(examples));
    const tried = [];
    for (const { name, nodes, needs } of examples) {
      const { missing, problems } = await installNeeds(red, needs);
      say(name, [...problems, ...(await runFlows(red, nodes, missing))]);
      if (missing.length === 0) tried.push(...nodes);
    }
    say('side by side', await runFlows(red, tried));
    return well;
  } finally {
    await broker.close();
  }
}

const differences = (examples) =>
  inRepository
    .filter(({ folder, name }) => !examples.some((each) => each.path === `${folder}/${name}`))
    .map(({ folder, name }) => `${folder}/${name} is not in the import menu`);

/** The examples as the import menu gives them; those that need other packages last. */
async function readExamples({ call }, port) {
  const read = async (...path) =>
    JSON.parse((await call('GET', [MENU, ...path.map(encodeURIComponent)].join('/'))).text);
  const paths = [];
  for (const folder of await read())
    for (const { fn } of await read(folder)) paths.push([folder, fn]);
  const examples = [];
  for (const [folder, name] of paths) {
    const nodes = await read(folder, name);
    // What the import dialog offers to install.
    const hint = nodes.find(({ type }) => type === 'global-config');
    examples.push({
      name,
      path: `${folder}/${name}`,
      nodes: atPort(nodes, port),
      needs: Object.entries(hint?.modules ?? {}),
    });
  }
  return examples.sort((a, b) => a.needs.length - b.needs.length);
}

/** As the button of the import dialog does it. A package that needs a compiler may not be installable. */
async function installNeeds(red, needs) {
  const from = red.position();
  for (const [module, version] of needs) {
    console.log(`  installing ${module}@${version} from the palette …`);
    const { ok } = await red.call('POST', '/nodes', { module, version });
    if (ok) continue;
    if (module !== 'node-red-node-sqlite')
      return { missing: [], problems: [`${module} cannot be installed`] };
    console.log(`  ${module} cannot be installed here: its types have to be named as missing`);
    return { missing: ['sqlite', 'sqlitedb'], problems: [] };
  }
  return { missing: [], problems: red.problems(from) };
}

/** @param missing types that are not there: those, and no others, have to be named in the log */
async function runFlows(red, nodes, missing = []) {
  const from = red.position();
  const { ok, text } = await red.call('POST', '/flows', nodes);
  if (!ok) throw new SetupError(`The flows cannot be deployed: ${text}`);
  const [end] = await red.logged(/Started flows|Waiting for missing types/, from);
  if (end === 'Started flows') await press(red, nodes);
  await sleep(WATCHED_FOR_MS);
  const named = [...red.log(from).matchAll(/\[info\] {2}- (\S+)$/gm)].map(([, type]) => type);
  const wrong = named.sort().join() === missing.join() ? [] : [`missing types: ${named.join()}`];
  return [...red.problems(from), ...wrong];
}

async function press(red, nodes) {
  for (const { id } of nodes.filter(({ type }) => type === 'inject')) {
    const { ok } = await red.call('POST', `/inject/${id}`);
    if (!ok) throw new SetupError(`The inject node ${id} cannot be pressed.`);
  }
}
