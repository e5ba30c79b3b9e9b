import { setTimeout as sleep } from 'node:timers/promises';
import { startMeter } from '../meter';
import type { Job, Values } from '../scenario';
import type { Flood } from '../service/client';
import { READING } from '../service/readings';
import { fail } from './node-red';
import { opener, OURS, type Open } from './open-channels';
import { until, within } from '../../test/tooling/until';

const PATIENCE = 60_000;
/** Milliseconds for histories to be read and statuses to be shown, once all channels are open. */
const SETTLE = 500;
/** Milliseconds without a reading of a history after which those that a flood has caused are over. */
const CALM = 1000;
/** Milliseconds in which those are over. */
const CALM_LIMIT = 300_000;

/** Receives and counts uploads. */
export class Receiver {
  received = 0;
  #onUpload = (): void => undefined;

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
      receiver.#onUpload();
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
    let read = -1;
    const isCalm = async (): Promise<boolean> => {
      const before = read;
      read = (await this.job.service.state()).histories;
      if (read !== before) await sleep(CALM);
      return read === before;
    };
    await until(isCalm, 'no more histories are read', CALM_LIMIT);
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
    const arrived = new Promise<void>((resolve) => {
      this.#onUpload = () => {
        if (this.received >= sent) resolve();
      };
      this.#onUpload();
    });
    // Fewer than were sent are named below.
    await within(arrived, 'all uploads have come', PATIENCE).catch(() => undefined);
    this.#onUpload = () => undefined;
    const sample = measured(sent);
    if (this.received !== sent) throw new Error(`${this.received} of ${sent} uploads came.`);
    return { ...sample, service: cpu / sent, sent };
  }
}
