import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from './device';
import type { Push, Silence } from './dialect';
import type { Wait } from './options';
import type { Service } from './service';

/**
 * Calls a device and waits for its answer (sections 4.2.3 and 4.2.11). The device acts as soon as the
 * call arrives and answers after its delay; a device that is away does neither.
 * @param act what the device does; the result is its answer
 * @param signal ends the waiting when the client has gone
 * @returns the answer, or the reason why the device did not answer
 */
export async function askDevice<T>(
  service: Service,
  device: Device,
  wait: Wait,
  act: () => T,
  signal: AbortSignal,
): Promise<{ answer: T } | Silence> {
  const { dialect } = service;
  const { waits } = service.settings;
  const limit = waits[wait];
  const away = async (waited: number): Promise<Silence> => {
    if (!dialect.knowsWhoIsAway) await sleep(Math.max(0, limit - waited), undefined, { signal });
    return 'away';
  };
  if (!device.online) return away(0);
  device.maxInFlight = Math.max(device.maxInFlight, ++device.inFlight);
  try {
    const answer = act();
    // A reboot counts as a departure itself, and is answered: so this is read after acting.
    const { departures, answerDelay } = device;
    if (answerDelay > 0) await sleep(Math.min(answerDelay, limit), undefined, { signal });
    if (device.departures !== departures) return await away(answerDelay);
    if (answerDelay > limit) return 'silent';
    device.lastSeen = service.settings.now();
    return { answer };
  } finally {
    device.inFlight--;
  }
}

/** As {@link askDevice}, for calls that fail without an answer. @throws Refusal */
export async function callDevice<T>(
  service: Service,
  device: Device,
  act: () => T,
  signal: AbortSignal,
  wait: Wait = 'call',
): Promise<T> {
  const outcome = await askDevice(service, device, wait, act, signal);
  if (typeof outcome === 'object') return outcome.answer;
  throw service.dialect.unanswered(device, wait, outcome);
}

/**
 * Pushes to a device and waits for its answer. The dialect says whether the history has a push without one.
 * @throws Refusal
 */
export async function pushToDevice(
  service: Service,
  device: Device,
  push: Push,
  signal: AbortSignal,
): Promise<void> {
  const isKeptAnyway = service.dialect.keepsPush(push.via, false);
  if (isKeptAnyway) service.keepPush(device, push);
  await callDevice(service, device, () => service.deliver(device, push), signal, 'push');
  if (!isKeptAnyway) service.keepPush(device, push);
}
