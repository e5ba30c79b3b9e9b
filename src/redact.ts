/** Anything of the form of a signature (section 8: 32 characters, hexadecimal). */
const SIGN = /[0-9a-f]{32}/gi;

/** A shorter secret would blot out ordinary words. */
const MIN_SECRET = 4;

const forms = (secret: string): string[] => [
  secret,
  secret.toLowerCase(),
  encodeURIComponent(secret.toWellFormed()),
];

/**
 * Makes a function that takes secrets, and whatever looks like a signature, out of a text that came
 * from the service: a service may repeat a request in its error.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.filter((secret) => secret !== undefined && secret.length >= MIN_SECRET);
  // The longest first, since one may begin with another; signatures last, since a key may look like one.
  const hidden = [...new Set(known.flatMap((secret) => forms(secret ?? '')))].sort(
    (a, b) => b.length - a.length,
  );
  return (text) => {
    let clean = text;
    for (const secret of hidden) clean = clean.replaceAll(secret, '***');
    return clean.replace(SIGN, '***');
  };
}
