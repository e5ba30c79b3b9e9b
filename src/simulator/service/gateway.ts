import { setTimeout as sleep } from 'node:timers/promises';
import { STATUS } from '../assumptions';
import type { Device } from '../devices/device';
import { Refusal } from '../transport/refusal';
import type { Push, Service } from './service';

/**
 * Calls a device and waits for its answer (sections 4.2.3 and 4.2.11). The device acts as soon as the
 * call arrives and answers after its delay; a device that is away does neither.
 * @param act what the device does; the result is its answer
 * @param signal ends the waiting when the client has gone
 * @returns the answer, or undefined if none came in time
 */
export async function askDevice<T>(
  service: Service,
  device: Device,
  act: () => T,
  signal: AbortSignal,
): Promise<{ answer: T } | undefined> {
  const { offlineAfter } = service.settings;
  if (!device.online) {
    await sleep(offlineAfter, undefined, { signal });
    return undefined;
  }
  device.maxInFlight = Math.max(device.maxInFlight, ++device.inFlight);
  try {
    const answer = act();
    // A reboot counts as a departure itself, and is answered: so this is read after acting.
    const { departures, answerDelay } = device;
    if (answerDelay > 0) await sleep(Math.min(answerDelay, offlineAfter), undefined, { signal });
    if (answerDelay <= offlineAfter && device.departures === departures) {
      device.lastSeen = service.settings.now();
      return { answer };
    }
    await sleep(Math.max(0, offlineAfter - answerDelay), undefined, { signal });
    return undefined;
  } finally {
    device.inFlight--;
  }
}

/**
 * As {@link askDevice}, for calls that fail without an answer.
 * @throws Refusal 504
 */
export async function callDevice<T>(
  service: Service,
  device: Device,
  act: () => T,
  signal: AbortSignal,
): Promise<T> {
  const answered = await askDevice(service, device, act, signal);
  if (answered) return answered.answer;
  throw new Refusal(STATUS.noAnswer, `device ${device.chipid} did not answer in time`);
}

/**
 * Pushes to a device and waits for its answer. What was pushed is in the history either way.
 * @throws Refusal 504
 */
export async function pushToDevice(
  service: Service,
  device: Device,
  push: Push,
  signal: AbortSignal,
): Promise<void> {
  if (!device.online) service.push(device, push);
  await callDevice(service, device, () => service.push(device, push), signal);
}
