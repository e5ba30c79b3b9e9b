import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import { IDENTITY } from '../identity';
import { serve, settings } from '../process/rpc';
import { AT_ONCE, pushLoop, type PushMethods } from './push-loop';

/* The limit: what a program does that does nothing but push. The signature is written by hand. */

const { baseUrl } = settings() as { baseUrl: string };
const { appid, appkey } = IDENTITY;
const pool = new Pool(baseUrl, { connections: AT_ONCE, pipelining: 1 });
const headers = { 'content-type': 'application/x-www-form-urlencoded' };

async function push(chipid: string, message: string): Promise<void> {
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
}

serve<PushMethods>({
  run: (how) => {
    return new Promise((resolve, reject) => {
      const start = (chipid: string, message: string, done: () => void): void => {
        push(chipid, message).then(done, reject);
      };
      pushLoop(how, start).then(resolve, reject);
    });
  },
});
