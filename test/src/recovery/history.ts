import type { Writing } from '../../../src/recovery/writing';

/** What a history in this writing keeps of a text: rows 12 and 16 of what is known of the public server. */
export function keptOf(body: string, writing: Writing): string {
  if (writing === 'base64') return Buffer.from(body).toString('base64');
  if (writing === 'text') return body;
  const bare = body.trim();
  const [, ...rest] = bare.split(',');
  return writing === 'trimmed' || rest.length === 0 ? bare : rest.join('');
}
