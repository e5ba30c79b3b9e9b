import type { TestResult } from '../../../nodes/app/answers.config';
import { ask } from './routes';
import assert from 'node:assert/strict';

/** Does what **Test connection** does. @returns the answer, and its text */
export async function testConnection(settings: object): Promise<TestResult & { text: string }> {
  const { status, text, body } = await ask<TestResult>('apps/test', { body: settings });
  assert.equal(status, 200, text);
  return { ...body, text };
}
