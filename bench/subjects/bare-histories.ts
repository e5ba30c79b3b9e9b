import { chipidOf, IDENTITY } from '../identity';

/** Reads the histories of devices, from one index up to another. */
export interface Histories {
  /** @returns the number of records, or of uploads, that came out */
  read(from: number, to: number): Promise<number>;
  close(): void;
}

/** As many as recovery reads at once. */
const CONNECTIONS = 16;

/** The least that it takes to read histories: undici's `Pool` and `JSON.parse`. */
export async function bareHistories(baseUrl: string): Promise<Histories> {
  const { Pool } = await import('undici');
  const pool = new Pool(baseUrl, { connections: CONNECTIONS, pipelining: 1 });

  async function readOne(chipid: string): Promise<number> {
    const timestamp = Math.floor(Date.now() / 1000);
    const query = `appid=${IDENTITY.appid}&timestamp=${timestamp}&sign=none`;
    const path = `/openapi/up_messages/dev/${chipid}/?${query}`;
    const { body } = await pool.request({ method: 'GET', path });
    const records = (await body.json()) as { body: string; dev: string }[];
    return records.filter((record) => record.dev === chipid && record.body !== '').length;
  }

  return {
    async read(from, to) {
      const counts = Array.from({ length: to - from }, (_, i) => readOne(chipidOf(from + i)));
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
    close: () => void pool.destroy(),
  };
}
