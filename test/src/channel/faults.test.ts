import assert from 'node:assert/strict';
import type { WebSocket } from 'ws';
import type { FaultName } from '../../../src/simulator';
import { channelService } from '../../tooling/servers/channel-service';
import { clientOf, simulator } from '../support/client';
import { CHIPID, listen, type Listener } from '../support/listener';
import { until } from '../../tooling/until';

/** Frames that cost nothing but themselves, and the fault that is reported. */
const BAD_FRAMES: [fault: FaultName, report: RegExp][] = [
  ['bad-json', /not JSON/],
  ['other-chipid', /another device/],
  ['binary', /binary/],
];

/** Frames that break the protocol: the connection has to end, and the reason says why. */
const BREAKING: [fault: FaultName, reason: string][] = [
  ['big-frame', 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'],
  ['bad-utf8', 'WS_ERR_INVALID_UTF8'],
  ['bad-close-code', 'WS_ERR_INVALID_CLOSE_CODE'],
];

const EVENT = { type: 'data_upload', appid: '1', chipid: CHIPID, timestamp: '1', body: 'QUJD' };
const UPLOAD = JSON.stringify(EVENT);

const disconnects = ({ changes }: Listener) =>
  changes.filter(({ state }) => state === 'disconnected');

describe('a frame that is not what section 6 describes', () => {
  for (const [fault, report] of BAD_FRAMES) {
    it(`is reported once and ignored if it is ${fault}; the next upload arrives`, async () => {
      const service = await simulator();
      const listener = listen(clientOf(service.baseUrl));
      await listener.state('connected');
      service.fail(fault, { times: 1 });
      service.upload(CHIPID, 'spoilt');
      service.upload(CHIPID, 'good');
      await until(() => listener.uploads.length > 0);
      assert.deepEqual(listener.texts(), ['good']);
      assert.equal(listener.faults.length, 1);
      assert.match(listener.faults[0]!, report);
      assert.deepEqual(disconnects(listener), []);
    });
  }

  for (const [fault, reason] of BREAKING) {
    it(`ends the connection once if it is ${fault}; after a new one uploads arrive`, async () => {
      const service = await simulator();
      const listener = listen(clientOf(service.baseUrl));
      await listener.state('connected');
      service.fail(fault, { times: 1 });
      service.upload(CHIPID, 'spoilt');
      await listener.state('connected', 2);
      assert.deepEqual(disconnects(listener), [{ state: 'disconnected', reason }]);
      assert.deepEqual(listener.texts(), []);
      await until(() => service.channels() === 1);
      service.upload(CHIPID, 'good');
      await until(() => listener.uploads.length > 0);
      assert.deepEqual(listener.texts(), ['good']);
    });
  }

  it('may arrive in fragments', async () => {
    const service = await channelService((channel: WebSocket) => {
      channel.send(UPLOAD.slice(0, 20), { fin: false });
      channel.send(UPLOAD.slice(20), { fin: true });
    });
    const listener = listen(clientOf(service.baseUrl));
    await until(() => listener.uploads.length === 1);
    assert.deepEqual(listener.texts(), ['ABC']);
  });

  for (const [what, part] of [
    ['of one byte', ' '],
    ['that are empty', ''],
  ] as const) {
    it(`that arrives in endless pieces ${what} ends the connection, and the next upload arrives`, async () => {
      const service = await channelService((channel, count) => {
        if (count > 0) channel.send(UPLOAD);
        else for (let sent = 0; sent < 40_000; sent++) channel.send(part, { fin: false });
      });
      const listener = listen(clientOf(service.baseUrl));
      await until(() => listener.uploads.length === 1);
      const fault = ['An upload came in more than 16,384 parts, the limit.'];
      assert.deepEqual(listener.faults, fault);
      const reasons = disconnects(listener).map(({ reason }) => reason);
      assert.deepEqual(reasons, ['WS_ERR_TOO_MANY_BUFFERED_PARTS']);
    });
  }
});
