import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { startSimulator, type Simulator } from '../../src/simulator';
import { launchBrowser } from '../../tooling/editor/chromium';
import { EDITOR_SETTINGS, openPage } from '../../tooling/editor/page';
import { app, node, type FlowNode } from '../../tooling/node-red/nodes';
import { startNodeRed } from '../../tooling/node-red/process';
import { makeUserDir } from '../../tooling/node-red/user-dir';
import { until } from '../../tooling/until';
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

function print(title: string, numbers: Numbers): void {
  const texts = Object.entries(numbers).map(([name, value]) => `${name} ${value.toFixed(1)}`);
  console.log(`${title}: ${texts.join(', ')}`);
}

async function measure(page: Page, simulator: Simulator): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  print('first paint', await page.evaluate<Numbers>(FIRST_PAINT));
  const timed = async (title: string, script: string): Promise<void> => {
    const [numbers, thread] = await busy(session, () => page.evaluate<Numbers>(script));
    const { frames = 0 } = numbers;
    print(title, {
      ...numbers,
      CPU: thread,
      ...(frames > 0 && { 'CPU per frame': thread / frames }),
    });
  };
  await timed('scrolling', SCROLL);
  await timed('filter', FILTER);
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

async function main(): Promise<void> {
  const userDir = makeUserDir(mkdtempSync(join(tmpdir(), 'device-cloud-sidebar-')));
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
    for (let round = 1; round <= ROUNDS; round++) {
      const page = await openPage(browser, red.url);
      const version = await page.evaluate<string>('RED.settings.version');
      console.log(`\nNode-RED ${version}, round ${round} of ${ROUNDS}; milliseconds`);
      await measure(page, simulator);
      await page.close();
    }
  } finally {
    await browser.close();
    await red.end();
    await simulator.close();
    rmSync(userDir, { recursive: true, force: true });
  }
}

void main();
