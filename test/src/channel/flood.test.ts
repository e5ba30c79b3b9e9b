import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpService, raw } from '../../tooling/servers/http-service';
import { clientOf, simulator } from '../support/client';
import { atEnd } from '../../tooling/servers/at-end';
import { floodService } from '../../tooling/servers/flood-service';
import { CHIPID, listen } from '../support/listener';
import { until } from '../../tooling/until';

const FIN_TEXT = 0x81;

const textFrame = (text: string): Buffer =>
  Buffer.concat([Buffer.from([FIN_TEXT, Buffer.byteLength(text)]), Buffer.from(text)]);

/** Frames that a service may send at full speed, and what each is reported as. */
const FLOODS: [what: string, frame: Buffer, fault: RegExp][] = [
  ['of 3 bytes', textFrame('abc'), /not a JSON object/],
  ['that begin as events do', textFrame('{"type":"data_upload",'), /not JSON/],
];

const REQUESTS = 50;
/** Bytes that Node.js reads of a connection at once: their frames are one piece of work. */
const READ = 65_536;

describe('a service that sends frames at full speed', () => {
  for (const [what, frame, fault] of FLOODS) {
    it(`does not starve other servers, timers and channels: frames ${what}`, async () => {
      const flooded = await floodService(frame);
      const service = await simulator();
      // In this process, as the admin API of Node-RED is.
      const { baseUrl: admin } = await httpService(raw('ok'));
      let faults = 0;
      let reported: string | undefined;
      clientOf(flooded.baseUrl).listen(CHIPID, {
        onFault(text) {
          faults++;
          reported = text;
        },
      });
      const other = listen(clientOf(service.baseUrl));
      await other.state('connected');
      await until(() => faults > 0, 'the flood');
      const before = faults;
      let turns = 0;
      let timer: NodeJS.Immediate;
      const turn = (): void => {
        turns++;
        timer = setImmediate(turn);
      };
      turn();
      atEnd(() => clearImmediate(timer));
      for (let request = 0; request < REQUESTS; request++) {
        assert.equal(await (await fetch(admin)).text(), 'ok');
        await sleep(1);
        service.upload(CHIPID, `upload ${request}`);
      }
      const inTurn = (faults - before) / turns;
      await until(() => other.uploads.length === REQUESTS);
      assert.ok(inTurn <= READ / frame.length, `${inTurn} frames were read in each turn`);
      assert.match(String(reported), fault);
    });
  }
});
