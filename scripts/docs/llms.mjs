import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../npm.mjs';
import { helpPage, nodeLabel } from './help.mjs';

/*
 * `llms.txt`: all nodes with their properties and messages on one page, for programs that write flows. It is made from the
 * built `x.config.js`, the comments of the sources and the English helps.
 */

const require = createRequire(import.meta.url);
const read = (path) => readFileSync(join(root, path), 'utf8');

const INTRODUCTION = `# Device Cloud for Node-RED

> Nodes for wireless modules on a device cloud: they receive what the modules upload as it arrives, and send them commands, also when
> these sleep, drop out or answer slowly.

This page has what a program needs that writes flows with this package, \`@device-cloud/node-red-device-cloud\`. Node types are
\`device-cloud-…\`; each node but the configuration nodes names its application in \`app\`, the id of a \`device-cloud-app\` node. With
\`"service": "simulator"\` that node needs no address, no key and no hardware, and has devices with the chip numbers 10000001,
10000002 and 10000003. Keys are credentials: they never stand in a flow. A typed property \`x\` has its type in \`xType\`: \`msg\` reads
\`msg.x\`, \`str\`, \`num\`, \`json\` and so on take the value itself. A property that is left out has its default. Errors of a message go to
\`catch\` nodes, with \`msg.error.code\`.

A flow that works on the simulator:

\`\`\`json
[
  { "id": "app", "type": "device-cloud-app", "name": "Simulator", "service": "simulator" },
  { "id": "tab", "type": "tab", "label": "Cooling" },
  { "id": "listen", "type": "device-cloud-listen", "z": "tab", "app": "app", "devices": "list", "chipids": ["10000001"], "x": 140, "y": 80, "wires": [["warm"]] },
  { "id": "warm", "type": "switch", "z": "tab", "property": "payload.temperature", "rules": [{ "t": "gt", "v": "24", "vt": "num" }], "x": 330, "y": 80, "wires": [["cool"]] },
  { "id": "cool", "type": "device-cloud-gpio", "z": "tab", "app": "app", "chipid": "10000001", "chipidType": "str", "operation": "set", "pin": "5", "pinType": "num", "level": "1", "levelType": "num", "x": 520, "y": 80, "wires": [[]] }
]
\`\`\`

Prove a flow: \`npx device-cloud-test flows.json tests\` starts Node-RED on a copy of it with every application on the simulator, and
runs tests such as this one. Exit code 0: all passed. All steps are in docs/use/test-your-flows.md.

\`\`\`yaml
- name: the cooling is switched on above 24 °C
  given:
    - upload: { chipid: 10000001, payload: { temperature: 24.5 } }
  expect:
    - pin: { chipid: 10000001, pin: 5, level: 1 }
    - noError: true
\`\`\`
`;

/** What the comments before the properties of a file say. */
function commentsOf(path) {
  const found = read(path).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n +(\w+):/g);
  return new Map(
    [...found].map(([, text, name]) => [name, text.replace(/\s*\n\s*\* ?/g, ' ').trim()]),
  );
}

function properties(node) {
  const { DEFAULTS, CHOICES = {} } = require(join(root, `dist/nodes/${node}/${node}.config.js`));
  const own = commentsOf(`nodes/${node}/${node}.config.ts`);
  const shared = commentsOf('nodes/common/shared.config.ts');
  return Object.entries(DEFAULTS).map(([name, value]) => {
    const words = CHOICES[name]?.map((word) => `\`${word}\``).join(', ');
    const text = own.get(name) ?? shared.get(name) ?? '';
    const says = [words && `One of ${words}.`, text].filter(Boolean).join(' ');
    return `- \`${name}\`, default \`${JSON.stringify(value)}\`${says ? `: ${says}` : ''}\n`;
  });
}

/** The help as a part of the page: without its examples, and without addresses of links. */
const help = (node) =>
  helpPage(node, 'en-US')
    .replace(/\n## References\n[\s\S]*$/, '\n')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^#.*\n+/, '')
    .replace(/^#/gm, '##')
    .trim();

/** @param nodes the names of the nodes, in their order */
export const llmsText = (nodes) =>
  [
    INTRODUCTION,
    ...nodes.map(
      (node) =>
        `\n## ${nodeLabel(node, 'en-US')}\n\n${help(node)}\n\n### Properties\n\n${properties(node).join('')}`,
    ),
  ].join('');
