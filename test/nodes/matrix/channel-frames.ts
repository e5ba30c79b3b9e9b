import assert from 'node:assert/strict';
import type { FaultName } from '../../../src/simulator';
import { arrivedAt } from '../support/messages';
import { listening, recovered } from './listening';
import { ARRIVES, CHIPID, emitted, NOTHING, payloads, rowsOf, said, type Row } from './row';

const row = rowsOf('channel');

/** An event that costs nothing but itself. */
const leftOut = (fault: string, name: FaultName, line: string): Row =>
  row(fault, line, `left out, the channel stays open, ${ARRIVES}`, async () => {
    const cloud = await listening({ recover: 'off' });
    cloud.fail(name, { times: 1 });
    cloud.upload(CHIPID, 'spoilt');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads(), ['good']);
    assert.equal(cloud.requests.length, 1, 'the channel held');
    return said();
  });

/** An event that breaks the protocol: the connection ends, and the history has what it was. */
const breaking = (fault: string, name: FaultName, reason: string): Row =>
  row(
    fault,
    `\`the channel is down (${reason}).\``,
    `opened again, the spoilt upload comes from the history, ${ARRIVES}`,
    async () => {
      const cloud = await listening();
      cloud.fail(name, { times: 1 });
      cloud.upload(CHIPID, 'spoilt');
      await recovered(cloud, ['spoilt']);
      return said();
    },
  );

const missed = row(
  'invalid JSON, with `recover`',
  '`A frame is not JSON.`',
  `the upload that it was comes from the history, the channel stays open, ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    const { length } = arrivedAt('out');
    cloud.fail('bad-json', { times: 1 });
    cloud.upload(CHIPID, 'spoilt');
    await emitted('spoilt');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads().slice(length), ['spoilt', 'good']);
    assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
    return said();
  },
);

const tooLarge = row(
  'frame over 16 MiB',
  '`An upload is larger than 16 MiB, the limit for a frame.`',
  `opened again, the spoilt upload comes from the history, ${ARRIVES}`,
  async () => {
    const cloud = await listening();
    cloud.fail('big-frame', { times: 1 });
    cloud.upload(CHIPID, 'spoilt');
    await recovered(cloud, ['spoilt']);
    const [first = '', second] = said().split(', `');
    assert.equal(second, 'the channel is down (WS_ERR_UNSUPPORTED_MESSAGE_LENGTH).`');
    return first;
  },
);

export const CHANNEL_FRAMES: readonly Row[] = [
  leftOut('invalid JSON', 'bad-json', '`A frame is not JSON.`'),
  missed,
  breaking('invalid UTF-8', 'bad-utf8', 'WS_ERR_INVALID_UTF8'),
  leftOut('invalid Base64', 'bad-base64', "`An upload's body is not Base64.`"),
  leftOut('missing fields', 'missing-fields', '`An upload has no body.`'),
  tooLarge,
  leftOut('binary frame', 'binary', '`A frame is binary.`'),
  leftOut('unknown type', 'unknown-type', NOTHING),
  leftOut("another device's chipid", 'other-chipid', "`An upload is another device's.`"),
  breaking('masked frame', 'masked-frame', 'WS_ERR_UNEXPECTED_MASK'),
  breaking('RSV frame', 'rsv-frame', 'WS_ERR_UNEXPECTED_RSV_1'),
  breaking('invalid close code', 'bad-close-code', 'WS_ERR_INVALID_CLOSE_CODE'),
];
