import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A server's certificate with its key. */
export interface Certificate {
  cert: string;
  key: string;
}

/** The folder of the fixtures, which are not compiled and so lie beside the sources only. */
function folder(from = __dirname): string {
  const found = join(from, 'test', 'support', 'certs');
  if (existsSync(found)) return found;
  const parent = dirname(from);
  if (parent === from) throw new Error('test/support/certs is not there');
  return folder(parent);
}

const read = (name: string): Certificate => ({
  cert: readFileSync(join(folder(), `${name}.cert.pem`), 'utf8'),
  key: readFileSync(join(folder(), `${name}.key.pem`), 'utf8'),
});

/** Self-signed, for localhost and 127.0.0.1. */
export const LOOPBACK = read('loopback');

/** Self-signed, for elsewhere.test. */
export const ELSEWHERE = read('elsewhere');
