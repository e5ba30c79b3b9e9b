import { createHash } from 'node:crypto';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** Base64 of a text wherever it begins in longer data: the characters that stand for it alone. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    return whole.slice(first, last);
  });
}

const escapedUnits = (text: string): string =>
  JSON.stringify(text)
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .slice(1, -1);

/** The ways in which a secret may stand in a text, by name. */
export const FORMS: Readonly<Record<string, (secret: string) => string[]>> = {
  plain: (secret) => [secret],
  'percent-encoded': (secret) => [encodeURIComponent(secret), encodeURI(secret)],
  'as a form': (secret) => [new URLSearchParams({ a: secret }).toString().slice(2)],
  'as in JSON': (secret) => [JSON.stringify(secret).slice(1, -1), escapedUnits(secret)],
  // Twice, as in a log of JSON.
  'as in JSON in JSON': (secret) => [JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
  base64: base64Forms,
  base64url: (secret) =>
    base64Forms(secret).map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  hex: (secret) => [Buffer.from(secret).toString('hex')],
  'hex with spaces': (secret) => [
    Buffer.from(secret)
      .toString('hex')
      .replace(/..(?=.)/g, '$& '),
  ],
  md5: (secret) => [md5(secret), md5(secret.toLowerCase())],
};

/** A secret that was found, and how it was written. */
export interface Found {
  secret: string;
  form: string;
  /** Its place in the text, with the text around it. */
  around: string;
}

/** Looks for secrets in texts, in every form and either case. */
export type SecretSearch = (text: string) => Found | undefined;

export function secretSearch(secrets: Iterable<string>): SecretSearch {
  const forms = [...new Set(secrets)].flatMap((secret) =>
    Object.entries(FORMS).flatMap(([form, write]) =>
      write(secret).map((written) => ({ secret, form, written: written.toLowerCase() })),
    ),
  );
  return (text) => {
    const lower = text.toLowerCase();
    for (const { secret, form, written } of forms) {
      const at = lower.indexOf(written);
      if (at !== -1) return { secret, form, around: text.slice(Math.max(0, at - 80), at + 120) };
    }
    return undefined;
  };
}
