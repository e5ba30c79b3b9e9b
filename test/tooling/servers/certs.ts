import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../repository';

/** A server's certificate with its key. */
export interface Certificate {
  cert: string;
  key: string;
}

/** The certificates are not compiled and so lie beside the sources only. */
const path = (file: string): string =>
  join(repository, 'test', 'tooling', 'servers', 'certs', file);

const read = (name: string): Certificate => ({
  cert: readFileSync(path(`${name}.cert.pem`), 'utf8'),
  key: readFileSync(path(`${name}.key.pem`), 'utf8'),
});

/** Where a server of another language finds a certificate and its key. */
export const certificateFiles = (name: 'loopback' | 'localhost'): Certificate => ({
  cert: path(`${name}.cert.pem`),
  key: path(`${name}.key.pem`),
});

/** Self-signed, for localhost and 127.0.0.1. */
export const LOOPBACK = read('loopback');

/** Self-signed, for localhost alone. */
export const LOCALHOST = read('localhost');

/** Self-signed, for elsewhere.test. */
export const ELSEWHERE = read('elsewhere');
