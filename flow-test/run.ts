import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Judge, type Evidence } from './expect';
import {
  appidOf,
  chipidsIn,
  listenersIn,
  listens,
  nodesNamed,
  prepareFlows,
  type Flows,
} from './flows';
import { NodeRedGone, type NodeRed } from './node-red';
import { Problem, type FlowNode } from './protocol';
import { isListening, type Seen } from './seen';
import type { Expected, FlowTest, Given, Sight } from './tests';
import { World } from './world';

export interface Result {
  readonly test: FlowTest;
  /** Seconds it took. */
  readonly seconds: number;
  /** What failed, each of one or several lines; none if the test passed. */
  readonly failures: readonly string[];
  /** Of a failed test: the end of the log. */
  readonly details: readonly string[];
}

const LOOK = 10;
const LOG_LINES = 12;
/** How long the first upload waits for the listeners, in milliseconds. */
const LISTENERS = 10_000;
/** What Node-RED says at each deploy. */
const DEPLOYS = /\] (?:Start|Stopp|Updat)(?:ing|ed) flows$/;

/** Runs tests, one after the other, on one Node-RED as long as it lasts. */
export class Runner {
  readonly #newNodeRed: () => NodeRed;
  readonly #allowed: readonly string[];
  #nodeRed: NodeRed | undefined;

  /**
   * @param newNodeRed starts one
   * @param allowed types of nodes that run although they reach outside
   */
  constructor(newNodeRed: () => NodeRed, allowed: readonly string[]) {
    this.#newNodeRed = newNodeRed;
    this.#allowed = allowed;
  }

  /** Runs one test. @throws NodeRedGone if Node-RED cannot even start */
  async run(flows: Flows, test: FlowTest): Promise<Result> {
    const begin = performance.now();
    const outcome = await this.#attempt(flows, test);
    return { test, seconds: (performance.now() - begin) / 1000, ...outcome };
  }

  async close(): Promise<void> {
    const nodeRed = this.#nodeRed;
    this.#nodeRed = undefined;
    await nodeRed?.end();
  }

  /** Ends Node-RED when this process ends and nothing can be awaited any more. */
  closeAtExit(): void {
    this.#nodeRed?.endAtExit();
  }

  async #attempt(flows: Flows, test: FlowTest): Promise<Omit<Result, 'test' | 'seconds'>> {
    const problems = unknownNames(flows.nodes, test);
    if (problems.length > 0) return { failures: problems, details: [] };
    const nodeRed = this.#nodeRed ?? (await this.#start());
    const chipids = [...chipidsIn(flows.nodes), ...test.given.flatMap(chipidsOf)];
    const world = await World.start(chipids, appidOf(flows.nodes));
    try {
      return await new Attempt({ flows, test, world, nodeRed, allowed: this.#allowed }).run();
    } finally {
      // The flows stop while the service is still there.
      const stop = { do: 'deploy', flows: [], watched: [] } as const;
      await nodeRed.ask(stop).catch(() => undefined);
      if (!nodeRed.isRunning) await this.close();
      await world.close();
    }
  }

  async #start(): Promise<NodeRed> {
    const nodeRed = (this.#nodeRed = this.#newNodeRed());
    try {
      await nodeRed.ready;
      return nodeRed;
    } catch (error) {
      await this.close();
      const log = nodeRed.log.slice(-LOG_LINES).join('\n');
      throw new NodeRedGone(`${(error as Error).message}. Its log:\n${log}`);
    }
  }
}

/** Nodes that a test names, and that the flows do not have, or several of where it needs one. */
function unknownNames(nodes: readonly FlowNode[], { given, expect }: FlowTest): string[] {
  const named = expect.flatMap(sightsOf).flatMap((sight) => ('at' in sight ? [sight.at] : []));
  const changed = given.flatMap((each) => {
    if (each.kind === 'set') return [each.node];
    return each.kind === 'inject' ? [each.at] : [];
  });
  const count = (at: string): number => nodesNamed(nodes, at).length;
  const unknown = [...new Set([...named, ...changed])].filter((at) => count(at) === 0);
  const twice = [...new Set(changed)].filter((at) => count(at) > 1);
  return [
    ...unknown.map((at) => `the flows have no node "${at}"`),
    ...twice.map((at) => `several nodes are called "${at}". Use an id.`),
  ];
}

/** Chip numbers that a step names. */
function chipidsOf(given: Given): string[] {
  if (given.kind === 'uploads') return (given.rows ?? []).map(({ chipid }) => chipid);
  return 'chipid' in given ? [given.chipid] : [];
}

function sightsOf(expected: Expected): readonly Sight[] {
  if (expected.kind === 'noError') return [];
  return expected.kind === 'none' ? expected.sights : [expected];
}

/** What a test runs on. */
interface Setting {
  readonly flows: Flows;
  readonly test: FlowTest;
  readonly world: World;
  readonly nodeRed: NodeRed;
  readonly allowed: readonly string[];
}

/** One test on a Node-RED that runs. */
class Attempt {
  readonly #reported: Seen[] = [];
  #hasOverflowed = false;
  readonly #setting: Setting;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  async run(): Promise<Omit<Result, 'test' | 'seconds'>> {
    const { nodeRed } = this.#setting;
    nodeRed.log.length = 0;
    nodeRed.onReport = (report) => {
      if (report.kind === 'overflow') this.#hasOverflowed = true;
      else this.#reported.push(report);
    };
    const failures = await this.#judged(Date.now()).catch((error: unknown) => [
      error instanceof Error ? error.message : String(error),
    ]);
    return { failures, details: failures.length === 0 ? [] : this.#log() };
  }

  async #judged(begin: number): Promise<string[]> {
    const { flows, test, world, nodeRed, allowed } = this.#setting;
    const { given, expect } = test;
    // What is given of devices first is so before the flow starts.
    const first = given.findIndex(({ kind }) => kind !== 'device' && kind !== 'set');
    const steps = first === -1 ? [] : given.slice(first);
    for (const each of given.slice(0, given.length - steps.length)) await this.#give(each);
    const changes = given.filter((each) => each.kind === 'set');
    const copyIn = (file: string, name: string): string => nodeRed.copyIn(file, name);
    const prepared = prepareFlows(flows, allowed, world.simulator, changes, copyIn);
    const sights = expect.flatMap(sightsOf).filter((sight) => sight.kind === 'message');
    const watched = sights.flatMap(({ at }) => nodesNamed(prepared, at)).map(({ id }) => id);
    await nodeRed.ask({ do: 'deploy', flows: prepared, watched });
    world.mayOpen();
    const deployed = performance.now();
    for (const each of steps) {
      if (each.kind.startsWith('upload')) await this.#listening(deployed + LISTENERS);
      await this.#give(each);
    }
    return this.#verdict(begin, Date.now());
  }

  /** Waits for all listeners: of two on one device, the later one would miss its upload. @param until a time of `performance` */
  async #listening(until: number): Promise<void> {
    const { flows, nodeRed } = this.#setting;
    const listeners = listenersIn(flows.nodes);
    const shows = ({ id }: FlowNode): unknown =>
      this.#reported.findLast((seen) => seen.kind === 'status' && seen.node === id);
    const listen = (): boolean =>
      listeners.every((node) => isListening((Object(shows(node)) as { status?: unknown }).status));
    while (!listen() && performance.now() < until && nodeRed.isRunning) await sleep(LOOK);
    this.#setting.world.mayOpen();
  }

  async #give(given: Given): Promise<void> {
    const { flows, world } = this.#setting;
    const isHeard = listens(flows.nodes);
    switch (given.kind) {
      case 'upload':
        return world.upload(given.chipid, given.payload, isHeard);
      case 'uploads': {
        let begin: number | undefined;
        for (const { chipid, payload, at } of given.rows ?? []) {
          // The first one may wait for its channel.
          if (begin !== undefined) await this.#until(begin + at / (given.speed ?? 1));
          await world.upload(chipid, payload, isHeard);
          begin ??= performance.now();
        }
        return;
      }
      case 'device':
        world.change(given);
        return world.mayOpen();
      case 'wait':
        await this.#until(performance.now() + given.seconds * 1000);
        return world.mayOpen();
      case 'inject':
        await this.#inject(given);
        return world.mayOpen();
      default:
    }
  }

  /** Waits until a time, as long as there is somebody to wait for. @param time of `performance` */
  async #until(time: number): Promise<void> {
    for (;;) {
      const left = time - performance.now();
      if (left <= 0 || !this.#setting.nodeRed.isRunning) return;
      await sleep(Math.min(left, 100));
    }
  }

  async #inject({ at, msg }: Given & { kind: 'inject' }): Promise<void> {
    const { flows, nodeRed } = this.#setting;
    const [node] = nodesNamed(flows.nodes, at);
    if (!node) return;
    if (!msg && node.type !== 'inject')
      throw new Problem(`"inject": "${at}" has no button. Say which "msg" it gets.`);
    try {
      await nodeRed.ask({ do: 'inject', node: node.id, ...(msg ? { msg } : {}) });
    } catch (error) {
      if (error instanceof NodeRedGone) throw error;
      throw new Problem(`"inject": "${at}" ${(error as Error).message}.`, { cause: error });
    }
  }

  /** Looks until every expectation is met, or its time is over. */
  async #verdict(begin: number, given: number): Promise<string[]> {
    const { test, flows, world, nodeRed } = this.#setting;
    const judge = new Judge(test.expect, flows.nodes);
    const evidence = (now: number): Evidence => ({
      seen: [...this.#reported, ...world.seen].sort((a, b) => a.at - b.at),
      begin,
      given,
      now,
      level: (chipid, pin) => world.level(chipid, pin),
    });
    for (;;) {
      const now = Date.now();
      if (nodeRed.isRunning && !judge.isOver(evidence(now))) {
        // To look at a hundred thousand messages takes longer than the pause between.
        await sleep(Math.max(LOOK, 2 * (Date.now() - now)));
        continue;
      }
      // What has happened by now may still be on its way.
      await nodeRed.ask({ do: 'flush' });
      const found = evidence(now);
      if (!judge.isOver(found)) continue;
      const overflow = 'the nodes did more than a test can hold: do messages go round in a circle?';
      return [...judge.failures(found), ...(this.#hasOverflowed ? [overflow] : [])];
    }
  }

  #log(): string[] {
    const lines = this.#setting.nodeRed.log.filter((line) => !DEPLOYS.test(line)).slice(-LOG_LINES);
    return lines.length === 0 ? [] : ['the end of the log:', ...lines.map((line) => `  ${line}`)];
  }
}
