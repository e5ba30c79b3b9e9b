import assert from 'node:assert/strict';
import {
  BUILT_IN_DEVICES,
  startSimulator,
  type DialectName,
  type Simulator,
} from '../../../src/simulator';
import { IMPORTED_DIALECT } from '../../tooling/dialect';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { comesToHold, until } from '../../tooling/until';
import { atPort, startBroker } from '../../tooling/servers/broker';
import { linesTo, startLineServer } from '../../tooling/servers/lines';
import { examples, named, ofType, troubles } from './files';
import { onSimulator } from './scene';
import type { Stage } from './stage';
import { request } from '../harness/request';

const WRONG = 'What went wrong';

/** Examples with a button that goes wrong on purpose. */
const WRONG_ON_PURPOSE = ['Read a value every minute', 'Reboot a device'];

/** Debug nodes that only a fault of the service leads to. */
const BEHIND_A_FAULT: Record<string, string[]> = {
  'Push and try again': ['Give up'],
  'Ask whether a device is online': ['No answer'],
  'Report silent devices': ['Notification'],
  'Handle errors by their code': [
    'Not sent: try it later',
    'Look at the settings',
    'Another error',
  ],
};

/**
 * Buttons without which another one goes wrong, or that go wrong when pressed again: pressed once, before the others,
 * until a debug node has shown.
 */
const FIRST: Record<string, { button: string; shows: string }> = {
  // While the device sleeps, no push reaches it.
  'Report silent devices': {
    button: 'Let 10000003 sleep',
    shows: 'The answer',
  },
  // It keeps the ids that the others need.
  'Use the server API': { button: 'Which devices?', shows: 'The answer' },
  'Know when a device goes offline': {
    button: 'Let 10000003 drop out for 20 s',
    shows: 'Notification',
  },
  // Once it sleeps, no push reaches it.
  'Switch a device that sleeps': { button: 'Sleep for 10 s', shows: 'It sleeps' },
  // While the device boots, it cannot be told to.
  'Keep a pin over a loss of power': { button: 'Reboot 10000001', shows: 'It reboots' },
};

/** The built-in simulator in another dialect, which no config node can choose; undefined for its own. */
const startBuiltIn = async (dialect: DialectName): Promise<Simulator | undefined> =>
  dialect === 'document' ? undefined : startSimulator({ dialect, devices: TEXT_DEVICES });

/** The public server answers 500 to a history with an upload that is no text (`known-service.md`, 14). */
const TEXT_DEVICES = BUILT_IN_DEVICES.map((device) =>
  device.kind === 'probe' ? { ...device, kind: 'climate' as const } : device,
);

/** What the title of a test says of its dialect. */
export const onDialect = (dialect: DialectName): string =>
  dialect === 'document' ? '' : ` on ${dialect}`;

/** Deploys each example as it is, presses every button, and looks at every debug node. */
export function asImported(stage: Stage): void {
  const where = onDialect(IMPORTED_DIALECT);
  for (const example of examples) {
    it(`${example.name}: works as imported, every button and every debug node${where}`, async () => {
      const server = await startNeeded(example.nodes);
      try {
        await worksAsImported(stage, example.name, server.nodes, IMPORTED_DIALECT);
      } finally {
        await server.close();
      }
    });
  }
}

/** Starts the broker or the database that an example writes to, and has it write there. */
async function startNeeded(
  nodes: FlowNode[],
): Promise<{ nodes: FlowNode[]; close(): Promise<void> }> {
  if (ofType(nodes, 'mqtt-broker').length > 0) {
    const { port, close } = await startBroker();
    return { nodes: atPort(nodes, port), close };
  }
  if (ofType(nodes, 'http request').length > 0) {
    const { url, close } = await startLineServer();
    return { nodes: linesTo(nodes, url), close };
  }
  return { nodes, close: () => Promise.resolve() };
}

/** Deploys the nodes of an example, presses every button, and looks at every debug node. */
export async function worksAsImported(
  stage: Stage,
  name: string,
  nodes: FlowNode[],
  dialect: DialectName,
): Promise<void> {
  const simulator = await startBuiltIn(dialect);
  try {
    await works(stage, name, simulator ? onSimulator(nodes, simulator) : nodes);
  } finally {
    await simulator?.close();
  }
}

async function works({ red, editor }: Stage, name: string, nodes: FlowNode[]): Promise<void> {
  const logBefore = red.log().length;
  const count = (id: string): number => editor.shown.get(id)?.length ?? 0;
  const earlier = new Map(nodes.map(({ id }) => [id, count(id)]));
  const stale = new Map(editor.statuses);
  await red.deploy(nodes);

  // A debug node shows in the sidebar, or below itself alone.
  const hasShown = ({ id, tosidebar }: FlowNode): boolean =>
    tosidebar === true
      ? count(id) !== earlier.get(id)
      : editor.statuses.get(id) !== stale.get(id) &&
        // A deploy empties it.
        !['', undefined].includes(editor.statuses.get(id)?.text);
  const problems = WRONG_ON_PURPOSE.includes(name) ? [] : [WRONG];
  const silent = [...problems, ...(BEHIND_A_FAULT[name] ?? [])];
  const missing = (): unknown[] =>
    ofType(nodes, 'debug')
      .filter((node) => !silent.includes(String(node['name'])) && !hasShown(node))
      .map((node) => node['name']);

  const press = ({ id }: FlowNode): Promise<Response> =>
    request(`${red.url}/inject/${id}`, { method: 'POST' });
  const first = FIRST[name];
  if (first) {
    await press(named(nodes, first.button));
    await until(() => hasShown(named(nodes, first.shows)), `"${first.shows}" has shown something`);
  }
  const others = ofType(nodes, 'inject').filter((node) => node['name'] !== first?.button);

  const hasAllShown = (): boolean => missing().length === 0;
  await comesToHold(async () => {
    for (const button of others) await press(button);
    // What a press has started gets a second before it is pressed again.
    return comesToHold(hasAllShown, 1000);
  });
  const log = red.log().slice(logBefore);
  const left = missing();
  await red.deploy([]);
  assert.deepEqual(
    left,
    [],
    'debug nodes that showed nothing: if only a fault leads there, BEHIND_A_FAULT',
  );
  for (const node of ofType(nodes, 'debug')) {
    if (!problems.includes(String(node['name']))) continue;
    assert.ok(!hasShown(node), `went wrong: ${JSON.stringify(editor.shown.get(node.id)?.at(-1))}`);
  }
  assert.deepEqual(troubles(log), []);
}
