import { isUtf8 } from 'node:buffer';
import type { Params } from '../../api/signing';
import { FORM_TYPE, MAX_PARAMETERS } from '../assumptions';
import { badRequest } from './refusal';

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('a parameter is not percent-encoded UTF-8');
  }
}

/** Reads `key=value` pairs joined with `&`, percent-encoded. Stricter than URLSearchParams. */
function* pairs(encoded: string): Generator<[name: string, value: string]> {
  for (const pair of encoded.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    if (equals === -1) yield [decode(pair), ''];
    else yield [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
  }
}

/**
 * The parameters of a request, raw values by name: of the URL's query and of a POST's form-encoded
 * body (section 4.2, rule 3).
 * @throws Refusal 400 if they cannot be read, one is given twice, or there are too many
 */
export function readParams(query: string, form = ''): Params {
  const params = new Map<string, string>();
  const lowercased = new Set<string>();
  for (const encoded of [query, form]) {
    for (const [name, value] of pairs(encoded)) {
      const key = name.toLowerCase();
      if (lowercased.has(key)) throw badRequest(`parameter ${name} is given more than once`);
      if (lowercased.size === MAX_PARAMETERS) throw badRequest('there are too many parameters');
      lowercased.add(key);
      params.set(name, value);
    }
  }
  return Object.fromEntries(params);
}

/**
 * The form of a POST body.
 * @throws Refusal 400 if the body is of another kind
 */
export function readForm(contentType: string | undefined, body: Buffer): string {
  if (body.length === 0) return '';
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw badRequest(`the body's type must be ${FORM_TYPE}`);
  if (!isUtf8(body)) throw badRequest('the body is not UTF-8');
  return body.toString('utf8');
}

/** A required parameter. An empty one counts as missing. */
export function requireParam(params: Params, name: string): string {
  const value = params[name];
  if (value === undefined || value === '') throw badRequest(`parameter ${name} is missing`);
  return value;
}

/** Whether a text is a non-negative integer, of any number of digits. */
export const isInteger = (text: string): boolean => /^[0-9]+$/.test(text);

/** A text that has to be a non-negative integer, as text, since it may have 20 digits. */
export function integer(name: string, value: string): string {
  if (!isInteger(value)) throw badRequest(`${name} must be an integer`);
  return value;
}
