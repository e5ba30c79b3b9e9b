import type { NodeAPI } from 'node-red';
import type { FleetMetrics } from '../../src/index';
import { nameOfApp, runningApps } from './deployed';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number, labels?: Labels];

/** `shares`: how many of the 64 parts of a cluster's devices are this process's */
type AppMetrics = FleetMetrics & { readonly shares: number | undefined };

type Samples = (metrics: AppMetrics) => number | null | undefined | readonly Sample[];

/** The metrics by their names behind `device_cloud_`: their types, what they say, and their samples for an application. */
const METRICS: Readonly<Record<string, readonly ['gauge' | 'counter', string, Samples]>> = {
  devices: ['gauge', 'Devices that are known.', ({ devices }) => devices],
  devices_online: ['gauge', 'Devices that are online, as far as known.', ({ online }) => online],
  channels: [
    'gauge',
    'Channels by their state.',
    ({ channels }) => Object.entries(channels).map(([state, count]) => [count, { state }]),
  ],
  uploads_total: ['counter', 'Uploads that came live.', ({ uploads }) => uploads],
  uploads_replayed_total: ['counter', 'Missed uploads that were recovered.', (app) => app.replayed],
  uploads_altered_total: [
    'counter',
    'Recovered uploads that the history may have altered.',
    ({ altered }) => altered,
  ],
  commands_total: [
    'counter',
    'Commands to devices by their outcome.',
    ({ commands }) => commands.map(({ call, code, count }) => [count, { call, code }]),
  ],
  commands_waiting: ['gauge', 'Commands that wait for their devices.', ({ waiting }) => waiting],
  list_age_seconds: [
    'gauge',
    'Age of the last good list of online devices.',
    ({ listAge }) => listAge && listAge / 1000,
  ],
  held_back_bytes: [
    'gauge',
    'Bytes of uploads that are held back until a history is read, or an upload is acknowledged.',
    ({ heldBytes }) => heldBytes,
  ],
  uploads_unacknowledged: [
    'gauge',
    'Uploads that wait for an acknowledgement, one of a device.',
    ({ unacknowledged }) => unacknowledged.count,
  ],
  uploads_unacknowledged_seconds: [
    'gauge',
    'For how long the first of them has waited.',
    ({ unacknowledged }) => unacknowledged.age / 1000,
  ],
  shares_owned: [
    'gauge',
    'How many of the 64 shares of the devices this process has, with a cluster.',
    ({ shares }) => shares,
  ],
};

/** The samples of a metric: none if there is no value. */
function samplesOf(value: ReturnType<Samples>): readonly Sample[] {
  if (value === null || value === undefined) return [];
  return typeof value === 'number' ? [[value]] : value;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (each) => ESCAPES[each] ?? '')}"`)
    .join(',');

/** The applications that run, each by its name; by its id, too, where another has the same name. No two samples may have the same labels. */
function namedFleets(RED: NodeAPI): [application: string, metrics: AppMetrics][] {
  const apps = runningApps().map((node) => {
    const { id, app } = node;
    return { id, app, name: nameOfApp(RED, node) || id };
  });
  const isTwice = (name: string): boolean => apps.filter((each) => each.name === name).length > 1;
  return apps.flatMap(({ id, name, app }) => {
    const metrics = app.fleet?.metrics();
    if (!metrics) return [];
    const shares = app.cluster()?.owned;
    return [[isTwice(name) ? `${name} (${id})` : name, { ...metrics, shares }]];
  });
}

/** What monitoring reads: the text format of Prometheus, version 0.0.4. No series is about a single device. */
export function metricsText(RED: NodeAPI): string {
  const fleets = namedFleets(RED);
  return Object.entries(METRICS)
    .map(([name, [type, help, samples]]) => {
      const full = `device_cloud_${name}`;
      const lines = fleets.flatMap(([application, metrics]) =>
        samplesOf(samples(metrics)).map(
          ([value, labels = {}]) => `${full}{${labelText({ application, ...labels })}} ${value}\n`,
        ),
      );
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
    })
    .join('');
}
