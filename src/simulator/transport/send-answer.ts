import type { ServerResponse } from 'node:http';
import { RawBody, type Answer } from './incoming';
import { toJson } from '../util/json';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends an answer, as JSON (section 4.2, rule 4) unless its body is raw.
 * @param now the simulator's time, for the header `Date`, in milliseconds
 */
export function sendAnswer(response: ServerResponse, answer: Answer, now: number): void {
  const { bytes, type } =
    answer.body instanceof RawBody ? answer.body : new RawBody(toJson(answer.body), JSON_TYPE);
  response.writeHead(answer.status, {
    date: new Date(now).toUTCString(),
    'content-type': type,
    'content-length': bytes.length,
    ...answer.headers,
  });
  response.end(bytes);
}
