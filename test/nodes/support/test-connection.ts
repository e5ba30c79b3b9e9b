import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { TestResult } from '../../../nodes/app/answers.config';
import { journal } from './journal';

/** Does what **Test connection** does. @returns the answer, and its text */
export async function testConnection(settings: object): Promise<TestResult & { text: string }> {
  const answer = await helper.request().post('/device-cloud/apps/test').send(settings);
  journal.answers.push(answer.text);
  assert.equal(answer.status, 200, answer.text);
  return { ...(answer.body as TestResult), text: answer.text };
}
