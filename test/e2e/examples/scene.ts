import assert from 'node:assert/strict';
import { startSimulator } from '../../../src/simulator';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import { DIALECT } from '../../tooling/dialect';
import { until } from '../../tooling/until';
import { type FlowNode, app } from '../../tooling/node-red/nodes';
import { example, named, troubles } from './files';
import type { Stage } from './stage';
import { request } from '../harness/request';

/** An example that runs, with its devices in the hands of the test. */
export interface Scene {
  nodes: FlowNode[];
  simulator: Simulator;
  stage: Stage;
  /** Presses the button of an inject node. */
  press(name: string): Promise<void>;
  /** What a debug node has shown in the sidebar since the example was deployed. */
  shown(name: string): unknown[];
  /** The same, once there are that many. */
  waitShown(name: string, count?: number): Promise<unknown[]>;
  /** The text below a node. */
  statusOf(name: string): string | undefined;
  waitStatus(name: string, text: string): Promise<void>;
  /** Deploys the example again, as a restart does. */
  again(): Promise<void>;
}

interface Setting {
  simulator?: SimulatorOptions;
  /** Changes what a test cannot wait for, such as minutes. */
  alter?: (nodes: FlowNode[]) => FlowNode[] | Promise<FlowNode[]>;
}

/** In place of the built-in simulator, one that the test can watch and drive. */
const onSimulator = (nodes: FlowNode[], simulator: Simulator): FlowNode[] =>
  nodes.map((node) => (node.type === 'device-cloud-app' ? app(simulator, { id: node.id }) : node));

async function open(stage: Stage, name: string, setting: Setting): Promise<Scene> {
  const { red, editor } = stage;
  const quick = { interval: 0, answerDelay: 1, offlineAfter: 300, rebootTime: 50 };
  const options = { dialect: DIALECT, ...quick, ...setting.simulator };
  const simulator = await startSimulator(options);
  const own = onSimulator(example(name).nodes, simulator);
  const nodes = (await setting.alter?.(own)) ?? own;
  const earlier = new Map([...editor.shown].map(([id, values]) => [id, values.length]));
  // A status that an earlier deploy has left is never taken back.
  const stale = new Map(editor.statuses);
  const idOf = (node: string): string => named(nodes, node).id;
  const shown: Scene['shown'] = (node) =>
    (editor.shown.get(idOf(node)) ?? []).slice(earlier.get(idOf(node)) ?? 0);
  const statusOf: Scene['statusOf'] = (node) => {
    const status = editor.statuses.get(idOf(node));
    return status === stale.get(idOf(node)) ? undefined : status?.text;
  };
  await red.deploy(nodes);
  return {
    nodes,
    simulator,
    stage,
    shown,
    statusOf,
    async press(node) {
      const response = await request(`${red.url}/inject/${idOf(node)}`, { method: 'POST' });
      assert.ok(response.ok, `the button of "${node}"`);
    },
    async waitShown(node, count = 1) {
      await until(() => shown(node).length >= count, `"${node}" has shown ${count}`).catch(
        (error: unknown) => {
          const all = nodes
            .filter(({ type }) => type === 'debug')
            .map(({ id }) => editor.shown.get(id));
          const seen = JSON.stringify({ all, statuses: [...editor.statuses] });
          throw new Error(`${String(error)} Shown: ${seen}. Log: ${red.log().slice(-2000)}`);
        },
      );
      return shown(node);
    },
    waitStatus: (node, text) =>
      until(() => statusOf(node) === text, `"${node}" has the status ${text}`),
    async again() {
      await red.deploy([]);
      // Otherwise the old channels could pass for new ones.
      await until(() => simulator.channels() === 0, 'its channels are closed');
      for (const [id, status] of editor.statuses) stale.set(id, status);
      await red.deploy(nodes);
    },
  };
}

/** What the log says of a channel that the test has closed. */
const CUT = /the channel is down \(1001\)/;

/** A test that runs an example and ends it; no error that is not caught may be logged meanwhile. */
export function plays(
  stage: Stage,
  name: string,
  title: string,
  test: (scene: Scene) => Promise<void>,
  setting: Setting = {},
): void {
  it(`${name}: ${title}`, async () => {
    const from = stage.red.log().length;
    const scene = await open(stage, name, setting);
    try {
      await test(scene);
      // Before the end of the flow: a call that it breaks off is an error, and not the example's.
      const lines = stage.red.log().slice(from).split('\n');
      assert.deepEqual(
        troubles(lines.join('\n')).filter((line) => !CUT.test(line)),
        [],
      );
    } finally {
      await stage.red.deploy([]);
      await scene.simulator.close();
    }
  });
}

/** Waits until the channels that the example's listener wants are open. */
export const listening = (scene: Scene, channels: number): Promise<void> =>
  until(() => scene.simulator.channels() === channels, `${channels} channels are open`);
