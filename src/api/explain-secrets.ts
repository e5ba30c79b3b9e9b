import { MIN_SECRET } from '../http/redact';
import type { Draft, ExplainNote, Explanation } from './explain';

const MASK = '***';

/** A secret as it is, within JSON, and percent-encoded. */
const formsOf = (secret: string): string[] =>
  [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())].map(
    (form) => form.toLowerCase(),
  );

const note = (): ExplainNote => ({
  code: 'secret',
  message: 'A value of the request contains a key: what would show it is left out.',
});

/**
 * Removes from an explanation whatever would show a key, since a caller may have put one into a value. Only
 * what the caller gave is searched: a key that is an ordinary word may well be in the rest, too. What is
 * signed is lowercased, so all is compared in lowercase.
 */
export function hideSecrets(
  { given, ...explanation }: Draft,
  secrets: readonly (string | undefined)[],
): Explanation {
  const forms = secrets.flatMap((secret) =>
    secret !== undefined && secret.length >= MIN_SECRET ? formsOf(secret) : [],
  );
  const shows = (text: string): boolean => {
    const lower = text.toLowerCase();
    return forms.some((form) => lower.includes(form));
  };
  if (!given.some(shows)) return explanation;
  const { path, parameters, warnings } = explanation;
  const hide = (text: string): string => (given.includes(text) && shows(text) ? MASK : text);
  return {
    ...explanation,
    path: shows(`${path} ${decodeURIComponent(path)}`) ? MASK : path,
    parameters: parameters.map(([name, value]) => [name, hide(value)]),
    signed: MASK,
    // A command with gaps would send something else.
    curl: '',
    warnings: [...warnings.filter(({ code }) => code !== 'channel'), note()],
  };
}
