import { setTimeout as sleep } from 'node:timers/promises';
import { startMeter } from '../meter';
import type { Job, Values } from '../scenario';
import { READING } from '../service/readings';
import { fail } from './node-red';
import { opener, OURS, type Open } from './open-channels';
import { within } from '../../test/tooling/until';

const PATIENCE = 60_000;
/** Milliseconds for histories to be read and statuses to be shown, once all channels are open. */
const SETTLE = 500;

/** Receives and counts uploads. */
export class Receiver {
  received = 0;
  #onUpload = (): void => undefined;

  private constructor(
    private readonly job: Job,
    private readonly openMore: Open,
  ) {}

  static async start(job: Job): Promise<Receiver> {
    // What the subject before this one has left is closed first.
    await job.service.channelsOpen(0);
    const count = ({ payload }: { payload?: unknown }): void => {
      if (receiver.received++ === 0 && !READING.test(String(payload))) {
        fail(`This is not what was uploaded: ${String(payload)}`);
      }
      receiver.#onUpload();
    };
    const receiver = new Receiver(job, await opener(job, job.service.addresses.http, count));
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
    return { connected, recovered };
  }

  /** Receives uploads for so long, and counts that each that was sent has come once. */
  async flood(seconds: number, window: number): Promise<Values> {
    this.received = 0;
    const measured = startMeter();
    const { sent, cpu } = await this.job.service.flood(seconds, window);
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
