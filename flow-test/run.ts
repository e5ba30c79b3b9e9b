import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Allowed } from './allowed';
import { fromJson } from './copy';
import { Judge, type Evidence } from './expect';
import {
  appidOf,
  chipidsIn,
  FlowError,
  listens,
  nodesNamed,
  prepareFlows,
  type FlowNode,
  type Flows,
} from './flows';
import { beside, readUploads } from './load';
import { NodeRed, NodeRedGone, type Places } from './node-red';
import { nameOf, pathLines } from './path';
import { MAX_SEEN, type Report, type Traffic } from './protocol';
import type { Seen } from './seen';
import type { Expected, FlowTest, Given, Sight } from './tests';
import { chipidsOf, chipidsRecorded, World } from './world';
import { TestFileError } from './yaml';

export interface Result {
  readonly test: FlowTest;
  /** Seconds it took. */
  readonly seconds: number;
  /** What failed, each of one or several lines; none if the test passed. */
  readonly failures: readonly string[];
  /** Of a failed test: where messages went, and the end of the log. */
  readonly details: readonly string[];
}

const LOOK = 10;
const LOG_LINES = 12;
/** What Node-RED says at each deploy. */
const DEPLOYS = /\] (?:Start|Stopp|Updat)(?:ing|ed) flows$/;

/** Runs tests, one after the other, on one Node-RED as long as it lasts. */
export class Runner {
  readonly #places: Places;
  readonly #allowed: Allowed;
  #nodeRed: NodeRed | undefined;
  #port = 0;
  #test = 0;

  constructor(places: Places, allowed: Allowed) {
    this.#places = places;
    this.#allowed = allowed;
  }

  /** Runs one test. @throws NodeRedGone if Node-RED cannot even start */
  async run(flows: Flows, test: FlowTest): Promise<Result> {
    const begin = performance.now();
    const result = await this.#attempt(flows, test);
    return { test, seconds: (performance.now() - begin) / 1000, ...result };
  }

  async close(): Promise<void> {
    const nodeRed = this.#nodeRed;
    this.#nodeRed = undefined;
    await nodeRed?.end();
  }

  /** Ends Node-RED because of an error: the test that runs on it fails. @returns whether it runs */
  abandon(error: Error): boolean {
    return this.#nodeRed?.abandon(error) ?? false;
  }

  /** Ends it when this process ends and nothing can be awaited any more. */
  closeAtExit(): void {
    this.#nodeRed?.endAtExit();
  }

  async #attempt(flows: Flows, test: FlowTest): Promise<Pick<Result, 'failures' | 'details'>> {
    const problem = unknownNames(flows.nodes, test);
    if (problem.length > 0) return { failures: problem, details: [] };
    let recorded: string[];
    try {
      recorded = await devicesRecorded(test);
    } catch (error) {
      return { failures: [(error as Error).message], details: [] };
    }
    const chipids = [...chipidsIn(flows.nodes), ...chipidsOf(test.given), ...recorded];
    const world = await this.#world(chipids, appidOf(flows.nodes));
    try {
      const nodeRed = this.#nodeRed ?? (await this.#start(world.simulator.port));
      return await new Attempt(flows, test, world, nodeRed, this.#allowed, ++this.#test).run();
    } finally {
      if (this.#nodeRed && !(await rest(this.#nodeRed))) await this.close();
      await world.close();
    }
  }

  /** The service, at the port that Node-RED may connect to. */
  async #world(chipids: readonly string[], appid: string | undefined): Promise<World> {
    if (this.#nodeRed) {
      try {
        return await World.start(this.#port, chipids, appid);
      } catch {
        // Somebody else has the port by now.
        await this.close();
      }
    }
    const world = await World.start(0, chipids, appid);
    this.#port = world.simulator.port;
    return world;
  }

  async #start(port: number): Promise<NodeRed> {
    const nodeRed = (this.#nodeRed = new NodeRed(this.#places, this.#allowed, port));
    try {
      await nodeRed.ready();
      return nodeRed;
    } catch (error) {
      await this.close();
      const log = nodeRed.log.slice(-LOG_LINES).join('\n');
      throw new NodeRedGone(`${(error as Error).message}. Its log:\n${log}`);
    }
  }
}

/** Stops the flows, while the service is still there. @returns whether Node-RED can be used again */
async function rest(nodeRed: NodeRed): Promise<boolean> {
  if (!nodeRed.isUsable) return false;
  try {
    await nodeRed.ask({ do: 'deploy', test: 0, flows: [], watched: [] });
    return true;
  } catch {
    return false;
  }
}

/** Nodes that a test names, and that the flows do not have. */
function unknownNames(nodes: readonly FlowNode[], { given, expect }: FlowTest): string[] {
  const named = sightsOf(expect).flatMap((sight) => ('at' in sight ? [sight.at] : []));
  const buttons = given.flatMap((each) => (each.kind === 'inject' ? [each.at] : []));
  const unknown = [...new Set([...named, ...buttons])].filter(
    (at) => nodesNamed(nodes, at).length === 0,
  );
  const twice = [...new Set(buttons)].filter((at) => nodesNamed(nodes, at).length > 1);
  return [
    ...unknown.map((at) => `the flows have no node "${at}"`),
    ...twice.map((at) => `"inject": several nodes are called "${at}". Use an id.`),
  ];
}

/** The devices of the recordings that a test plays: nodes listen to them from the start. @throws RecordingError */
async function devicesRecorded({ file, given }: FlowTest): Promise<string[]> {
  const played = given.filter((each) => each.kind === 'recording');
  const found = played.map((each) => chipidsRecorded(beside(file, each.file)));
  return (await Promise.all(found)).flat();
}

const sightsOf = (expect: readonly Expected[]): Sight[] =>
  expect.flatMap((each) => {
    if (each.kind === 'noError') return [];
    return each.kind === 'some' ? [each.sight] : each.sights;
  });

class Attempt {
  readonly #reported: Seen[] = [];
  #hasOverflowed = false;
  /** What was expected in vain. */
  #unmet: readonly Expected[] = [];
  #traffic: Traffic = {};
  readonly #flows: Flows;
  readonly #test: FlowTest;
  readonly #world: World;
  readonly #nodeRed: NodeRed;
  readonly #allowed: Allowed;
  readonly #number: number;

  constructor(
    flows: Flows,
    test: FlowTest,
    world: World,
    nodeRed: NodeRed,
    allowed: Allowed,
    number: number,
  ) {
    this.#flows = flows;
    this.#test = test;
    this.#world = world;
    this.#nodeRed = nodeRed;
    this.#allowed = allowed;
    this.#number = number;
  }

  async run(): Promise<Pick<Result, 'failures' | 'details'>> {
    this.#nodeRed.forgetLog();
    const failures = await this.#judged();
    if (failures.length === 0) return { failures, details: [] };
    const path = pathLines(this.#flows.nodes, sightsOf(this.#unmet), this.#traffic);
    return { failures, details: [...path, ...this.#log()] };
  }

  async #judged(): Promise<string[]> {
    this.#nodeRed.onReport = (number, report) => {
      if (number === this.#number) this.#take(report);
    };
    const begin = Date.now();
    try {
      await this.#deploy();
      const rest = this.#test.given.slice(leading(this.#test.given).length);
      for (const each of rest) await this.#give(each);
      return await this.#verdict(begin, Date.now());
    } catch (error) {
      const isKnown = [NodeRedGone, FlowError, TestFileError].some((kind) => error instanceof kind);
      if (isKnown || error instanceof Error) return [(error as Error).message];
      throw error;
    } finally {
      this.#nodeRed.onReport = () => undefined;
    }
  }

  async #deploy(): Promise<void> {
    for (const each of leading(this.#test.given)) await this.#give(each);
    const changes = this.#test.given.filter((each) => each.kind === 'set');
    const flows = prepareFlows(
      ...([this.#flows, this.#allowed, this.#world.simulator, changes] as const),
      (file, name) => this.#nodeRed.copyIn(file, name),
    );
    const watched = sightsOf(this.#test.expect).flatMap((sight) =>
      sight.kind === 'message' ? nodesNamed(flows, sight.at).map(({ id }) => id) : [],
    );
    await this.#nodeRed.ask({ do: 'deploy', test: this.#number, flows, watched });
  }

  async #give(given: Given): Promise<void> {
    const world = this.#world;
    switch (given.kind) {
      case 'upload':
        return world.upload(given.chipid, given.payload, listens(this.#flows.nodes));
      case 'uploads':
        for (const { chipid, payload } of readUploads(beside(this.#test.file, given.file)))
          await world.upload(chipid, payload, listens(this.#flows.nodes));
        return;
      case 'device':
        return world.change(given.chipid, given.device);
      case 'recording':
        return world.play(
          beside(this.#test.file, given.file),
          given.speed,
          listens(this.#flows.nodes),
          () => this.#nodeRed.isRunning,
        );
      case 'wait':
        return void (await sleep(given.seconds * 1000));
      case 'inject': {
        const { at, msg } = given;
        const [node] = nodesNamed(this.#flows.nodes, at);
        if (!node) return;
        if (!msg && node.type !== 'inject')
          throw new FlowError(`"inject": "${at}" has no button. Say which "msg" it gets.`);
        try {
          await this.#nodeRed.ask({ do: 'inject', node: node.id, ...(msg ? { msg } : {}) });
        } catch (error) {
          if (error instanceof NodeRedGone) throw error;
          throw new FlowError(`"inject": "${at}" ${(error as Error).message}.`, { cause: error });
        }
        return;
      }
      default:
    }
  }

  /** Looks until every expectation is met, or its time is over. */
  async #verdict(begin: number, given: number): Promise<string[]> {
    const world = this.#world;
    const judge = new Judge(
      this.#test,
      (at) => nodesNamed(this.#flows.nodes, at).map(({ id }) => id),
      (id) => nameOf(this.#flows.nodes, id),
    );
    const evidence = (now: number): Evidence => ({
      seen: [...this.#reported, ...world.seen].sort((a, b) => a.at - b.at),
      begin,
      given,
      now,
      level: (chipid, pin) => world.level(chipid, pin),
    });
    for (;;) {
      const now = Date.now();
      if (this.#nodeRed.isRunning && !judge.open(evidence(now)).isOver) {
        await sleep(LOOK);
        continue;
      }
      // What has happened by now may still be on its way.
      const { traffic } = await this.#nodeRed.ask({ do: 'flush' });
      this.#traffic = traffic;
      const { isOver, unmet, failures } = judge.open(evidence(now));
      if (!isOver) continue;
      this.#unmet = unmet;
      const overflow = this.#hasOverflowed
        ? ['the nodes did more than a test can hold: do messages go round in a circle?']
        : [];
      return [...failures, ...overflow];
    }
  }

  #take(report: Report): void {
    if (report.kind === 'overflow') this.#hasOverflowed = true;
    else if (this.#reported.length < MAX_SEEN)
      this.#reported.push(
        report.kind === 'message' ? { ...report, msg: fromJson(report.msg) } : report,
      );
  }

  #log(): string[] {
    const lines = this.#nodeRed.log.filter((line) => !DEPLOYS.test(line)).slice(-LOG_LINES);
    return lines.length === 0 ? [] : ['the end of the log:', ...lines.map((line) => `  ${line}`)];
  }
}

/** What is given of devices before the flow starts. */
function leading(given: readonly Given[]): readonly Given[] {
  const first = given.findIndex(({ kind }) => kind !== 'device' && kind !== 'set');
  return first === -1 ? given : given.slice(0, first);
}
