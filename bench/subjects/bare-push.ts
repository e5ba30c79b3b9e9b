import { createHash } from 'node:crypto';
import { IDENTITY } from '../identity';

const { appid, appkey } = IDENTITY;
const headers = {
  'content-type': 'application/x-www-form-urlencoded',
  // Section 4.2, rule 5: clients send their own.
  'user-agent': 'device-cloud-bench/1.0.0',
};

/** The least that a push takes: signed by hand, sent with undici's `Pool`. */
export async function barePush(
  baseUrl: string,
  connections: number,
): Promise<(chipid: string, message: string) => Promise<void>> {
  // Loaded only here, so that Node-RED's start is measured without it.
  const { Pool } = await import('undici');
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });

  return async (chipid, message) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const params = `timestamp=${timestamp}&message=${message}&format=MSG&devid=${chipid}&appid=${appid}`;
    const sign = createHash('md5').update(`post${params.toLowerCase()}${appkey}`).digest('hex');
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/openapi/dev/push/message/?appid=${appid}&timestamp=${timestamp}&sign=${sign}`,
      headers,
      body: `devid=${chipid}&message=${encodeURIComponent(message)}&format=MSG`,
    });
    const answer = (await body.json()) as { msg: string };
    if (statusCode !== 200 || answer.msg !== 'OK') throw new Error(`The push gave ${statusCode}.`);
  };
}
