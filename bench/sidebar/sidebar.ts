import type { CDPSession, Page } from 'playwright-core';
import { startSimulator, type Simulator } from '../../src/simulator';
import { launchBrowser } from '../../test/tooling/editor/chromium';
import { EDITOR_SETTINGS, openPage } from '../../test/tooling/editor/page';
import { app, node, type FlowNode } from '../../test/tooling/node-red/nodes';
import { startNodeRed } from '../../test/tooling/node-red/process';
import { makeUserDir } from '../../test/tooling/node-red/user-dir';
import { temporaryFolder } from '../../test/tooling/temporary-folder';
import { until } from '../../test/tooling/until';
import { summarize } from '../statistics';
import { FILTER, FIRST_PAINT, SCROLL, watchFrames, type Numbers } from './in-page';

/* `npm run bench:sidebar`: how quick the tab of the sidebar is with 5,000 devices. It prints, and judges nothing. */

const DEVICES = 5000;
/** Devices with a channel, half of which upload in each second. */
const CHANNELS = 100;
const SECONDS = 5;
const ROUNDS = 5;

const chipidOf = (index: number): number => 10_000_001 + index;
const devices = Array.from({ length: DEVICES }, (_, index) => ({
  chipid: chipidOf(index),
  name: `Sensor ${(index * 7919) % DEVICES}`,
}));

function flows(simulator: Simulator): FlowNode[] {
  const chipids = Array.from({ length: CHANNELS }, (_, index) => String(chipidOf(index)));
  const place = { z: 'tab', x: 200, y: 100, wires: [[]] };
  return [
    { id: 'tab', type: 'tab', label: 'Flow' },
    app(simulator),
    { ...node('listen', { chipids }), ...place, id: 'listen', type: 'device-cloud-listen' },
    // Has the list read again and again, so that all devices are known before the tab is shown.
    { ...node('events'), ...place, id: 'events', type: 'device-cloud-events', y: 200 },
  ];
}

async function deploy(url: string, nodes: FlowNode[]): Promise<void> {
  const answer = await fetch(`${url}/flows`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(nodes),
  });
  if (!answer.ok) throw new Error(`The deploy was answered ${answer.status}.`);
}

/** Half of the channels upload in each second, one after the other. @returns ends it */
function keepChanging(simulator: Simulator): () => void {
  let next = 0;
  const timer = setInterval(
    () => simulator.upload(chipidOf(next++ % CHANNELS), { temperature: 21.5 }),
    2000 / CHANNELS,
  );
  return () => clearInterval(timer);
}

/** Milliseconds of CPU of the page's main thread that something takes. */
async function busy<T>(session: CDPSession, what: () => Promise<T>): Promise<[T, number]> {
  const read = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN) * 1000;
  };
  const before = await read();
  const result = await what();
  return [result, (await read()) - before];
}

/** What was measured, by its name: a value a round for each number. */
class Measurements {
  readonly #all = new Map<string, Map<string, number[]>>();

  add(title: string, numbers: Numbers): void {
    const known = this.#all.get(title) ?? new Map<string, number[]>();
    this.#all.set(title, known);
    for (const [name, value] of Object.entries(numbers))
      known.set(name, [...(known.get(name) ?? []), value]);
  }

  /** The median, and the least and the most in brackets. */
  print(): void {
    for (const [title, numbers] of this.#all) {
      console.log(`\n${title}`);
      for (const [name, values] of numbers) {
        const { median, least, most } = summarize(values);
        const [middle, ...ends] = [median, least, most].map((value) => value.toFixed(1));
        console.log(`  ${name}: ${middle} (${ends.join(' to ')})`);
      }
    }
  }
}

async function measure(page: Page, simulator: Simulator, into: Measurements): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const timed = async (title: string, script: string): Promise<void> => {
    const [numbers, thread] = await busy(session, () => page.evaluate<Numbers>(script));
    const { frames = 0 } = numbers;
    const each = frames > 0 ? { 'CPU per frame': thread / frames } : {};
    into.add(title, { ...numbers, CPU: thread, ...each });
  };
  await timed('first paint', FIRST_PAINT);
  await timed('scrolling, a page per frame', SCROLL);
  await timed('filter, each key', FILTER);
  await timed(`${SECONDS} s at rest`, watchFrames(SECONDS));
  const end = keepChanging(simulator);
  try {
    await timed(`${SECONDS} s, ${CHANNELS / 2} changes a second`, watchFrames(SECONDS));
    await timed('scrolling meanwhile', SCROLL);
    await timed('filter meanwhile', FILTER);
  } finally {
    end();
  }
}

/** Node-RED 5 keeps the tab that was shown last, and would show it at the start of the next round. */
async function withoutSettings(page: Page): Promise<void> {
  await page.route('**/settings/user*', (route) => route.fulfill({ json: {} }));
}

async function main(): Promise<void> {
  const userDir = makeUserDir(temporaryFolder('sidebar'));
  const simulator = await startSimulator({ devices, interval: 0, answerDelay: 1 });
  const red = await startNodeRed({ userDir, settings: EDITOR_SETTINGS });
  const browser = await launchBrowser();
  try {
    await deploy(red.url, flows(simulator));
    await until(async () => {
      const answer = await fetch(`${red.url}/device-cloud/apps`);
      const [first] = (await answer.json()) as { devices: number }[];
      return first?.devices === DEVICES;
    }, 'all devices are known');
    const measurements = new Measurements();
    let version = '';
    for (let round = 1; round <= ROUNDS; round++) {
      const page = await openPage(browser, red.url, { prepare: withoutSettings });
      version = await page.evaluate<string>('RED.settings.version');
      await measure(page, simulator, measurements);
      await page.close();
      // It takes minutes.
      console.log(`round ${round} of ${ROUNDS}`);
    }
    console.log(`${DEVICES} devices, Node-RED ${version}, ${ROUNDS} rounds, in ms`);
    measurements.print();
  } finally {
    await browser.close();
    await red.end();
    await simulator.close();
  }
}

void main();
