import assert from 'node:assert/strict';
import { channelUrl, openChannel, refusedUpgrade, withSimulator } from './client';
import { until } from '../../tooling/until';

const DEVICE = '10000001';

describe('simulator: channel', () => {
  it(
    'records heartbeats and ignores unknown frames',
    withSimulator({}, async (simulator) => {
      const socket = await openChannel(simulator, DEVICE);
      const ignored = [
        '{"type":"heartbeat"}',
        '{"type":"msgpush"}',
        '{"type":"msgpush","body":"no base64!"}',
        'nonsense',
      ];
      for (const frame of ignored) socket.send(frame);
      socket.send(Buffer.from('{"type":"msgpush","body":"AP8="}'));
      socket.send('{"type":"msgpush","body":"b2s="}');
      const { received } = simulator.device(DEVICE);
      await until(() => received.length > 0);
      assert.equal(received[0]?.text, 'ok');
      assert.equal(simulator.frames[0]?.text, ignored[0]);
    }),
  );

  it(
    'refuses an upgrade: 401 for a wrong sign, 404 for an unknown device or path, 400 for parameters',
    withSimulator({}, async (simulator) => {
      const url = channelUrl(simulator, DEVICE);
      const refused = [
        [channelUrl(simulator, DEVICE, { appkey: 'another' }), 401],
        [url.replace('chipid=10000001', 'chipid=10000002'), 401],
        [channelUrl(simulator, '10000009'), 404],
        [url.replace('/peer?', '/peer/?'), 404],
        [url.replace(/&timestamp=\d+/, ''), 400],
      ] as const;
      for (const [address, status] of refused) {
        assert.equal(await refusedUpgrade(address), status, address);
      }
    }),
  );
});
