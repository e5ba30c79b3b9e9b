import type { ServerResponse } from 'node:http';
import type { Answer } from './incoming';
import { toJson } from '../util/json';

/**
 * Sends an answer as JSON (section 4.2, rule 4).
 * @param now the simulator's time, for the header `Date`, in milliseconds
 */
export function sendAnswer(response: ServerResponse, answer: Answer, now: number): void {
  const text = toJson(answer.body);
  response.writeHead(answer.status, {
    date: new Date(now).toUTCString(),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...answer.headers,
  });
  response.end(text);
}
