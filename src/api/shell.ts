import { UNPRINTABLE } from '../util/show';

/*
 * Text in a command for a POSIX shell. Besides what a shell would interpret, nothing unprintable appears in
 * it: a terminal into which a command is pasted obeys control characters, wherever the quotes are.
 */

/** A longer argument may be refused by the system: Linux accepts 128 KiB. */
const MAX_ARGUMENT = 100_000;

/** Quotes printable text. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const octal = (text: string): string => {
  let escaped = '';
  for (const byte of Buffer.from(text)) escaped += `\\${byte.toString(8).padStart(3, '0')}`;
  return escaped;
};

/** Any text as a quoted format of `printf`; `%s` can be put between two of them. */
export const printfText = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll("'", octal).replace(UNPRINTABLE, octal); // prettier-ignore

/** JSON with an escape for everything unprintable. */
export const printableJson = (json: string): string =>
  json.replace(UNPRINTABLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** The MD5 of what is piped in: `openssl` is on Linux and macOS, and its output has differed over time. */
const MD5 = "openssl md5 | sed 's/.*= *//'";

/** How a command computes a signature. */
export interface SigningSteps {
  /** Environment variables that must be set. */
  needs: readonly string[];
  /** The suffix of the seconds since 1970: `000` for milliseconds. */
  zeros: '' | '000';
  /** The text that is signed, as a format of `printf`, and the variables in it. */
  format: string;
  variables: readonly string[];
  /** Whether A to Z are lowercased when it runs, for what is known only then. */
  lowercases: boolean;
}

const variable = (name: string): string => `"$${name}"`;

/** Sets `timestamp` and `sign`. */
export function signingCommand(steps: SigningSteps): string {
  const { needs, zeros, format, variables, lowercases } = steps;
  const values = variables.map(variable).join(' ');
  const lowercase = lowercases ? " | LC_ALL=C tr 'A-Z' 'a-z'" : '';
  return [
    `: ${needs.map((name) => `"\${${name}:?}"`).join(' ')} &&`,
    `timestamp=$(date +%s)${zeros} &&`,
    `sign=$(printf '${format}' ${values}${lowercase} | ${MD5}) &&`,
  ].join('\n');
}

/** One argument of a command, made of printable text and variables; each variable is a list by itself. */
export const argument = (...parts: readonly (string | readonly [string])[]): string =>
  parts.map((part) => (typeof part === 'string' ? quote(part) : variable(part[0]))).join('');

/**
 * A command that sends a request.
 * @param options of `curl`, and the quoted address
 * @param body printable text
 */
export function curlCommand(options: readonly string[], body: string | undefined): string {
  const curl = ['curl -sSi', ...options].join(' ');
  if (body === undefined) return curl;
  return body.length > MAX_ARGUMENT
    ? `printf %s ${quote(body)} | ${curl} --data-binary @-`
    : `${curl} --data-raw ${quote(body)}`;
}
