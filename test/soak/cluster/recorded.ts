import { shortOf } from '../lines';

/** The part of a message that is recorded. */
interface Message {
  chipid: string;
  payload: unknown;
  replayed?: boolean;
  redelivered?: boolean;
}

/** A message as a line; called inside Node-RED. */
export function recorded({ chipid, payload, replayed = false, redelivered }: Message): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const body = shortOf(text);
  return JSON.stringify({
    at: Date.now(),
    chipid,
    replayed,
    body,
    ...(redelivered && { redelivered }),
  });
}
