import { readQuestion, readSleepOrder, REPLIES_AFTER, replyTo } from '../assumptions';
import { callbackValue } from './callbacks';
import type { Device } from '../devices/device';
import type { Settings } from '../options/options';
import type { Timers } from '../util/timers';

/** The service, as far as an answer needs it. */
interface Receiver {
  readonly settings: Pick<Settings, 'interval' | 'now'>;
  readonly timers: Pick<Timers, 'after'>;
  upload(device: Device, body: Buffer): unknown;
}

/**
 * Lets a device answer a question that was pushed to it: by an upload, a moment after its answer to
 * the push. A device that is not online by then answers nothing.
 */
export function answerQuestion(service: Receiver, device: Device, text: string): void {
  const question = readQuestion(text);
  if (!question) return;
  const { settings, timers } = service;
  timers.after(device.answerDelay + REPLIES_AFTER, () => {
    if (!device.online) return;
    const interval = device.settings.interval ?? settings.interval;
    const callback = callbackValue(device, question.get, settings.now(), interval);
    service.upload(device, Buffer.from(JSON.stringify(replyTo(question, callback?.value))));
  });
}

/** Lets a device sleep for as long as a push orders it to, a moment after its answer to the push. */
export function obeySleepOrder({ timers }: Receiver, device: Device, text: string): void {
  const seconds = readSleepOrder(text);
  if (seconds === undefined) return;
  timers.after(device.answerDelay + REPLIES_AFTER, () => {
    if (!device.online) return;
    device.sleep();
    timers.after(seconds * 1000, () => device.wake());
  });
}
