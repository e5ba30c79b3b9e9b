import { setTimeout as sleep } from 'node:timers/promises';
import { startMeter } from '../meter';
import type { Job, Subject, Values } from '../scenario';
import type { Flood } from '../service/client';
import { READING } from '../service/readings';
import { AT_ONCE, bareChannels, type BareUpload } from './bare-channels';
import { bareHistories } from './bare-histories';
import { bareReconnecting } from './bare-reconnecting';
import { coreUploads } from './core-flows';
import { createEnds, endNodes, registerEnds } from './ends';
import { fail, startNodeRed } from './node-red';
import { ourFleet, ourUploads } from './our-flows';

/** The subjects that receive uploads on channels. */
export const LIMIT: Subject = { name: 'limit', label: 'bare ws' };
export const FLOOR: Subject = { name: 'floor', label: "bare ws and a bare node's send" };
export const CORE: Subject = { name: 'core', label: 'core: websocket in → json → function' };
export const OURS: Subject = { name: 'ours', label: 'listen node' };
export const OURS_OFF: Subject = { name: 'ours-off', label: 'listen node, recover: off' };
export const OURS_FLEET: Subject = { name: 'ours-fleet', label: 'listen, events and latest nodes' };

/** A subject that reads the history of each device once its channel is open, as recovery does. */
export const LIMIT_READING: Subject = {
  name: 'limit-reading',
  label: 'bare ws, and undici that reads each history',
};

/** A subject that reconnects, and receives nothing. */
export const RECONNECTING: Subject = {
  name: 'limit-reconnecting',
  label: 'bare ws behind the same limiter',
};

/** Opens channels up to a given number; it may return before they are open. */
type Open = (channels: number) => Promise<void>;

const PATIENCE = 60_000;
const LOOK = 5;
/** Milliseconds for histories to be read and statuses to be shown, once all channels are open. */
const SETTLE = 500;
/** Milliseconds without a reading of a history after which those that a flood has caused are over. */
const CALM = 1000;

/** Receives and counts uploads. */
export class Receiver {
  received = 0;

  private constructor(
    private readonly job: Job,
    private readonly openMore: Open,
  ) {}

  /** @param scheme which of the service's addresses to connect to */
  static async start(job: Job, scheme: 'http' | 'https'): Promise<Receiver> {
    // What the subject before this one has left is closed first.
    await job.service.channelsOpen(0);
    const count = ({ payload }: { payload?: unknown }): void => {
      if (receiver.received++ === 0 && !READING.test(String(payload))) {
        fail(`This is not what was uploaded: ${String(payload)}`);
      }
    };
    const receiver = new Receiver(job, await opener(job, job.service.addresses[scheme], count));
    return receiver;
  }

  /** Waits until exactly this number is open. @returns the seconds that it took */
  async open(channels: number): Promise<number> {
    const start = performance.now();
    await this.openMore(channels);
    await this.job.service.channelsOpen(channels);
    const seconds = (performance.now() - start) / 1000;
    await sleep(SETTLE);
    return seconds;
  }

  /** Ends all channels at once. @returns seconds until all are open again, and their histories read */
  async restart(channels: number): Promise<Values> {
    const { service, subject } = this.job;
    const { histories } = await service.state();
    const start = performance.now();
    const seconds = (): number => (performance.now() - start) / 1000;
    await service.drop();
    await service.channelsOpen(channels);
    const connected = seconds();
    if (subject === OURS.name) await service.historiesRead(histories + channels);
    const recovered = seconds();
    const { most, mostReadings } = await service.state();
    return { connected, recovered, most, mostReadings };
  }

  /** Waits until the histories are read that were due: their CPU belongs to the uploads before. */
  async calm(): Promise<void> {
    for (let before = -1; ; await sleep(CALM)) {
      const { histories } = await this.job.service.state();
      if (histories === before) return;
      before = histories;
    }
  }

  /** Receives uploads at a steady rate for so long, and counts that each that was sent has come once. */
  async receive(seconds: number, perSecond: number): Promise<Values> {
    return this.#count(() => this.job.service.upload(seconds, perSecond));
  }

  /** Receives uploads at once, on each channel `step` more than on the one before. */
  async stagger(step: number): Promise<Values> {
    return this.#count(() => this.job.service.stagger(step));
  }

  /** Receives uploads for so long, and counts that each that was sent has come once. */
  async flood(seconds: number, window: number): Promise<Values> {
    return this.#count(() => this.job.service.flood(seconds, window));
  }

  async #count(upload: () => Promise<Flood>): Promise<Values> {
    this.received = 0;
    const measured = startMeter();
    const { sent, cpu } = await upload();
    const deadline = Date.now() + PATIENCE;
    while (this.received < sent && Date.now() < deadline) await sleep(LOOK);
    const sample = measured(sent);
    if (this.received !== sent) throw new Error(`${this.received} of ${sent} uploads came.`);
    return { ...sample, service: cpu / sent, sent };
  }
}

/** Channels that are opened with the readings of their histories in between. */
async function readingChannels(
  baseUrl: string,
  onUpload: (upload: BareUpload) => void,
): Promise<Open> {
  const openMore = await bareChannels(baseUrl, onUpload);
  const histories = await bareHistories(baseUrl);
  let opened = 0;
  return async (channels) => {
    while (opened < channels) {
      const next = Math.min(opened + AT_ONCE, channels);
      await openMore(next);
      await histories.read(opened, next);
      opened = next;
    }
  };
}

/** What opens the channels of a subject. */
async function opener(
  { subject, packageFolder }: Job,
  baseUrl: string,
  onUpload: (upload: { payload?: unknown }) => void,
): Promise<Open> {
  if (subject === LIMIT.name) return bareChannels(baseUrl, onUpload);
  if (subject === LIMIT_READING.name) return readingChannels(baseUrl, onUpload);
  if (subject === RECONNECTING.name) return bareReconnecting(baseUrl, packageFolder);
  const ends = createEnds();
  ends.onMessage = onUpload;
  const nodeRed = await startNodeRed(packageFolder, registerEnds(ends));
  if (subject === 'floor') {
    await nodeRed.deploy(endNodes('sink'));
    return bareChannels(baseUrl, (upload: BareUpload) => ends.send({ ...upload }));
  }
  return (channels) => {
    if (subject === 'core') return nodeRed.deploy(coreUploads(baseUrl, channels));
    const recover = subject === OURS_OFF.name ? 'off' : 'reconnect';
    const listening = ourUploads(baseUrl, channels, recover);
    return nodeRed.deploy(subject === OURS_FLEET.name ? [...listening, ...ourFleet()] : listening);
  };
}
