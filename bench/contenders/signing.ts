import { hash } from 'node:crypto';
import { signOpenApi, signServerApi } from '../../src/signing';
import { IDENTITY } from '../identity';
import { startMeter, type Sample } from '../process/meter';
import { serve, settings } from '../process/rpc';

/* Signing a short request, and the bare hash of the same bytes in the quickest way Node.js has. */

/** What is signed: with the client's function, or hashed only. */
export interface SigningSettings {
  what: 'open' | 'open-hash' | 'server' | 'server-hash';
}

/** A process that signs. */
export interface SigningMethods {
  run(seconds: number): Sample;
}

const { appid, appkey, serverKey, serverPassword } = IDENTITY;
const { what } = settings() as SigningSettings;
const timestamp = '1700000000';
const request = { method: 'GET', path: '/api/server/devices', key: serverKey, timestamp };
const openText = `gettimestamp=${timestamp}&appid=${appid}${appkey}`;
const serverText = `get/api/server/deviceskey=${serverKey}timestamp=${timestamp}${serverPassword}`;

const work: Record<SigningSettings['what'], () => string> = {
  // In the order in which the client has them.
  open: () => signOpenApi('get', { timestamp, appid }, appkey),
  'open-hash': () => hash('md5', openText),
  server: () => signServerApi(request, serverPassword),
  'server-hash': () => hash('md5', serverText),
};

/** Operations between two looks at the clock. */
const AT_A_TIME = 1000;

serve<SigningMethods>({
  run(seconds) {
    const sign = work[what];
    if (work.open() !== work['open-hash']() || work.server() !== work['server-hash']()) {
      throw new Error('The bytes that are hashed are not the ones that are signed.');
    }
    const measured = startMeter();
    const until = performance.now() + seconds * 1000;
    let count = 0;
    let length = 0;
    while (performance.now() < until) {
      for (let left = AT_A_TIME; left > 0; left--) length += sign().length;
      count += AT_A_TIME;
    }
    const sample = measured(count);
    if (length !== count * 32) throw new Error('A signature has not 32 characters.');
    return sample;
  },
});
