import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { NodeAPI } from 'node-red';
import type { TestResult } from '../../../nodes/app/answers.config';
import { journal } from './journal';

/** An answer of an admin route. After each test the journal is searched for secrets, answers included. */
export interface Answered<T> {
  status: number;
  body: T;
  text: string;
  headers: Record<string, string>;
}

/** What a route says that refuses. */
export interface Refusal {
  error: { code: string; message: string };
}

interface Asked {
  method?: 'get' | 'post' | 'put';
  headers?: Readonly<Record<string, string>>;
  body?: object | string | undefined;
}

/** Asks a route below `device-cloud/`. */
export async function ask<T = Refusal>(path: string, asked: Asked = {}): Promise<Answered<T>> {
  const { body, method = body === undefined ? 'get' : 'post', headers = {} } = asked;
  const request = helper.request()[method](`/device-cloud/${path}`).set(headers);
  const answer = await (body === undefined ? request : request.send(body));
  journal.answers.push(answer.text);
  return answer as Answered<T>;
}

/** What a route answers with 200. */
export async function read<T>(path: string, body?: object): Promise<T> {
  const { status, text, body: answer } = await ask<T>(path, { body });
  assert.equal(status, 200, text);
  return answer;
}

/** Does what **Test connection** does. @returns the answer, and its text */
export async function testConnection(settings: object): Promise<TestResult & { text: string }> {
  const { status, text, body } = await ask<TestResult>('apps/test', { body: settings });
  assert.equal(status, 200, text);
  return { ...body, text };
}

/** The entries of the audit log. */
export const audited = (): Record<string, unknown>[] =>
  journal.logs
    .filter(({ level }) => level === 98)
    .map((entry) => entry as unknown as Record<string, unknown>);

/** Node-RED as it is where users have different permissions: whoever asks has all but the one that `lacking` gives. */
export const withoutPermission =
  (lacking: () => string) =>
  (RED: NodeAPI): void => {
    const usual = RED.auth.needsPermission.bind(RED.auth);
    RED.auth.needsPermission = (permission) => {
      const guard = usual(permission);
      return (request, response, next) => {
        if (permission === lacking()) response.status(401).end();
        else guard(request, response, next);
      };
    };
  };
