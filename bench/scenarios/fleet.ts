import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import type { AppChoice } from '../../nodes/app/answers.config';
import type { FleetAnswer } from '../../nodes/app/answers.config';
import { chipids } from '../identity';
import { startMeter } from '../meter';
import type { Plan } from '../plan';
import { column, type Job, type Scenario, type Values } from '../scenario';
import { ONLINE } from '../service/readings';
import { createEnds, registerEnds } from '../subjects/ends';
import { startNodeRed } from '../subjects/node-red';
import { ourUploads } from '../subjects/our-flows';
import { summarize } from '../statistics';
import { onLoopback } from '../../test/tooling/servers/loopback';
import { until } from '../../test/tooling/until';

/** Devices that upload between two answers, and how often each process asks for these. */
const CHANGED = 50;
const DELTAS = 15;
const SETTLE = 200;
const PATIENCE = 30_000;

/** A server that answers the editor. */
interface Editor {
  ask<T>(path: string): Promise<{ ms: number; answer: T }>;
}

async function serve(listener: RequestListener): Promise<Editor> {
  const { port } = await onLoopback(createServer(listener));
  return {
    async ask<T>(path: string) {
      const measured = startMeter();
      const request = get(`http://127.0.0.1:${port}/device-cloud/apps${path}`);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const body = await text(response);
      // Parsing is the editor's work; to receive the answer is counted.
      return { ms: measured(1).cpu / 1000, answer: JSON.parse(body) as T };
    },
  };
}

/** The same answers, of nothing but `JSON.stringify`. */
function bare(): Promise<Editor> {
  const rows = chipids(ONLINE).map((chipid) => ({
    ...{ chipid, name: `device ${chipid}`, online: true, since: Date.now(), lastUpload: null },
    ...{ channel: null, waiting: 0, reconnects: 0, recovered: 0, lastError: null },
  }));
  return serve(({ url = '' }, response) => {
    const devices = url.endsWith('since=0') ? rows : rows.slice(0, CHANGED);
    const answer: FleetAnswer = { revision: 1, devices, removed: [] };
    response.end(
      url.endsWith('apps') ? JSON.stringify([{ devices: ONLINE }]) : JSON.stringify(answer),
    );
  });
}

async function ours({ service, packageFolder }: Job): Promise<Editor> {
  const { app, deploy } = await startNodeRed(packageFolder, registerEnds(createEnds()), {
    ...{ httpAdminRoot: '/', disableEditor: true },
  });
  await deploy(ourUploads(service.addresses.http, CHANGED, 'off'));
  await service.channelsOpen(CHANGED);
  return serve(app.httpAdmin as unknown as RequestListener);
}

/** Asks for all devices, then again and again for those that have uploaded meanwhile. */
async function measure(job: Job): Promise<Values> {
  await job.service.channelsOpen(0);
  const editor = await (job.subject === 'ours' ? ours(job) : bare());
  const ask = (since: number): Promise<{ ms: number; answer: FleetAnswer }> =>
    editor.ask(`/app/fleet?since=${since}`);
  // The list is read once somebody looks.
  await editor.ask('/app/fleet?since=1');
  await until(
    async () => (await editor.ask<AppChoice[]>('')).answer[0]?.devices === ONLINE,
    'the list has been read',
    PATIENCE,
  );
  const { ms: first, answer } = await ask(0);
  if (answer.devices.length !== ONLINE) throw new Error(`${answer.devices.length} devices came.`);
  const deltas: number[] = [];
  for (let { revision } = answer; deltas.length < DELTAS;) {
    await job.service.flood(0.02, 1);
    await sleep(SETTLE);
    const delta = await ask(revision);
    const { length } = delta.answer.devices;
    if (length !== CHANGED) throw new Error(`${length} devices have changed, not ${CHANGED}.`);
    revision = delta.answer.revision;
    deltas.push(delta.ms);
  }
  return { first, delta: summarize(deltas).median };
}

/** The answers from which the editor's sidebar shows a fleet. */
export const fleet = ({ rounds }: Plan): Scenario => ({
  name: 'fleet',
  title: 'The fleet in the editor, 5,000 devices',
  subjects: [
    { name: 'limit', label: 'node:http and JSON.stringify' },
    { name: 'ours', label: 'route of the fleet' },
  ],
  columns: [
    column('first', 'CPU, first answer', 'ms', 1, 'lower'),
    column('delta', `CPU, ${CHANGED} changed`, 'ms', 1, 'lower'),
  ],
  goals: [
    { of: 'ours', column: 'first', most: 50 },
    { of: 'ours', column: 'delta', most: 5 },
  ],
  rounds: rounds * 3,
  measure,
});
