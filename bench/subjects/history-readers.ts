import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { createApplication } from '../../src/application';
import type { AllServiceLimits } from '../../src/http/service-limiter';
import { IDENTITY } from '../identity';

/** Reads histories without pages. */
export interface HistoryReader {
  /**
   * Reads the history of a device up to a number of records, or whole.
   * @returns how many records came, and the bytes that were read
   */
  read(chipid: string, records?: number): Promise<{ records: number; bytes: number }>;
  close(): unknown;
}

const CONNECTIONS = 16;

/** The bytes that a reading needs of a longer history, whatever it looks for in it: one read of a socket. */
const FIRST = 64_000;

/**
 * The least that it takes: undici's `Pool`, which reads the first 64 KB without a look at them; or a whole history, in
 * one piece, and `JSON.parse`.
 */
export async function bareReader(baseUrl: string): Promise<HistoryReader> {
  const { Pool } = await import('undici');
  const pool = new Pool(baseUrl, { connections: CONNECTIONS, pipelining: 1 });
  return {
    async read(chipid, records) {
      const timestamp = Math.floor(Date.now() / 1000);
      const query = `appid=${IDENTITY.appid}&timestamp=${timestamp}&sign=none`;
      const path = `/openapi/up_messages/dev/${chipid}/?${query}`;
      const { body } = await pool.request({ method: 'GET', path });
      if (records === undefined) {
        const text = await body.text();
        return { records: (JSON.parse(text) as unknown[]).length, bytes: Buffer.byteLength(text) };
      }
      let bytes = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes >= FIRST) break;
      }
      return { records, bytes };
    },
    close: () => pool.destroy(),
  };
}

/** The client's own reader. */
export function ourReader(baseUrl: string, packageFolder: string): HistoryReader {
  const load = createRequire(join(packageFolder, 'package.json'));
  const parts = {
    ...(load('./dist/src/application.js') as { createApplication: typeof createApplication }),
    ...(load('./dist/src/http/service-limiter.js') as {
      AllServiceLimits: typeof AllServiceLimits;
    }),
  };
  const options = { baseUrl, ...IDENTITY, proxy: false } as const;
  const application = parts.createApplication(
    { ...options, timeout: 600_000 },
    new parts.AllServiceLimits(),
  );
  const { signal } = new AbortController();
  return {
    async read(chipid, records = Infinity) {
      if (!application.open) throw new Error('There is no open API.');
      let count = 0;
      return application.open.streamHistory(chipid, signal, () => ++count < records);
    },
    close: () => application.close(),
  };
}
