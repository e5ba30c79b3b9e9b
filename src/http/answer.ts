import { parseJson } from '../util/json';
import { JsonLimitError } from '../util/json-limits';
import type { CallSpec } from './call-spec';
import type { HttpAnswer } from './exchange';
import { answerError, notAcceptedError } from './failures';

/** Removes secrets from what the service says. */
type Redact = (text: string) => string;

/** The `msg` of an answer, which section 7 puts into errors. */
function msgOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { msg } = value as { msg?: unknown };
  return typeof msg === 'string' ? msg : undefined;
}

/**
 * What an error says: its `msg`. If the interface's errors are not shown and there is no `msg` to
 * repeat, the whole text.
 */
export function serviceText(
  { body, encoding }: HttpAnswer,
  anyText: boolean | undefined,
  redact: Redact,
): string | undefined {
  if (encoding !== undefined) return undefined;
  const text = body.toString('utf8');
  let said: string | undefined;
  try {
    said = msgOf(JSON.parse(text));
  } catch {
    // Not JSON.
  }
  if (anyText && (said === undefined || said.trim() === '')) said = text;
  // Redacted first: a secret may contain white space.
  return said === undefined ? undefined : redact(said.trim()).replace(/\s+/g, ' ').trim();
}

function parseAnswer<T>(spec: CallSpec<T>, { statusCode, body }: HttpAnswer): unknown {
  if (body.length === 0) {
    if (spec.anyText) return null;
    throw answerError(spec.call, 'the answer is empty', statusCode);
  }
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof JsonLimitError) {
      const { what, advice } = error;
      throw answerError(spec.call, `the answer is ${what}`, statusCode, { advice });
    }
    if (spec.anyText) return body.toString('utf8');
    throw answerError(spec.call, 'the answer is not JSON', statusCode);
  }
}

/**
 * Reads the answer of a call whose status is a success.
 * @throws DeviceCloudError `INVALID_RESPONSE` or `NOT_ACCEPTED`
 */
export function readAnswer<T>(spec: CallSpec<T>, answer: HttpAnswer, redact: Redact): T {
  const { call, accepts } = spec;
  const { statusCode, encoding } = answer;
  if (encoding !== undefined) {
    throw answerError(call, 'the answer is compressed, though nobody asked for it', statusCode);
  }
  const value = parseAnswer(spec, answer);
  if (!accepts.is(value)) {
    const msg = msgOf(value);
    const more = msg === undefined ? {} : { said: redact(msg) };
    throw answerError(call, `the answer is not ${accepts.name}`, statusCode, more);
  }
  const refusal = spec.refusal?.(value);
  if (refusal !== undefined) {
    const { what, said } = refusal;
    const shown = said === undefined ? { what } : { what, said: redact(said) };
    throw notAcceptedError(call, shown, statusCode);
  }
  return value;
}
