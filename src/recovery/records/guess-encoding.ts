import { decodeBase64 } from '../../util/base64';
import type { Encoding } from './facts';

/** Text as people or programs write it: no control characters except white space. */
const PRINTABLE = /^[^\p{Cc}\p{Cn}\ufffd]*$/u;
const readable = (base64: string): boolean =>
  PRINTABLE.test(Buffer.from(base64, 'base64').toString('utf8').replace(/\s/g, ''));

/** How many bodies a guess is based on. */
const SAMPLE = 100;
/** This many texts are hardly ever all valid Base64 by chance if one has a `+` or `/`. */
const MANY = 4;

/**
 * Guesses how bodies are written while no upload has come both ways. It is Base64 if all bodies are valid
 * Base64 and one of these holds: each decodes to text; some are padded; there are several, and some have
 * a `+` or `/`. A text that is valid Base64 by chance, such as `test`, meets none of them.
 */
export function guessEncoding(bodies: readonly unknown[]): Encoding {
  const sample = bodies
    .filter((body): body is string => typeof body === 'string' && body !== '')
    .slice(-SAMPLE);
  const isBase64 =
    sample.length > 0 &&
    sample.every((body) => decodeBase64(body) !== undefined) &&
    (sample.some((body) => body.endsWith('=')) ||
      sample.every(readable) ||
      (sample.length >= MANY && sample.some((body) => /[+/]/.test(body))));
  return isBase64 ? 'base64' : 'text';
}
