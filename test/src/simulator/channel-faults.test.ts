import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { FaultName } from '../../../src/simulator';
import {
  channelUrl,
  nextEvent,
  nextFrame,
  openChannel,
  refusedUpgrade,
  withSimulator,
} from './client';
import { until } from '../../../tooling/until';

const DEVICE = '10000001';

describe('simulator: faults of the channel', () => {
  const refusals: [FaultName, number][] = [
    ['refuse-upgrade', 401],
    ['answer-upgrade', 200],
    ['gateway-upgrade', 502],
  ];
  for (const [name, status] of refusals) {
    it(
      `${name} answers the upgrade with ${status}`,
      withSimulator({}, async (simulator) => {
        simulator.fail(name, { times: 1, chipid: DEVICE });
        const other = await openChannel(simulator, '10000002');
        assert.equal(other.readyState, WebSocket.OPEN);
        assert.equal(await refusedUpgrade(channelUrl(simulator, DEVICE)), status);
        assert.equal((await openChannel(simulator, DEVICE)).readyState, WebSocket.OPEN);
      }),
    );
  }

  it(
    'hang-upgrade never answers, and reset-upgrade ends the connection',
    withSimulator({}, async (simulator) => {
      for (const name of ['hang-upgrade', 'reset-upgrade'] as const) {
        simulator.fail(name, { times: 1 });
        const handshakeTimeout = name === 'hang-upgrade' ? 1000 : 30_000;
        const socket = new WebSocket(channelUrl(simulator, DEVICE), { handshakeTimeout });
        const [error] = (await once(socket, 'error')) as [Error];
        const expected = name === 'hang-upgrade' ? /timed out/ : /hang up|ECONNRESET/;
        assert.match(error.message, expected);
        assert.equal(simulator.requests.at(-1)?.status, 0);
      }
    }),
  );

  const frames: [FaultName, RegExp][] = [
    ['bad-json', /^\{"type":"data_upload",$/],
    ['not-an-object', /^\["data_upload"\]$/],
    ['bad-base64', /"body":"~~not base64~~"/],
    ['other-chipid', /"chipid":"100000019"/],
    ['missing-fields', /^\{"type":"data_upload"\}$/],
    ['unknown-type', /"type":"unknown_type"/],
    ['big-frame', /"body":"A{2000000}/],
    ['deep', /^\{"type":"data_upload","body":\[{2500}\]{2500}\}$/],
    ['no-timestamp', /^(?!.*"timestamp").*"body":"bG9zdA=="/],
    ['odd-timestamp', /"timestamp":"1700000000\.5"/],
  ];
  for (const [name, text] of frames) {
    it(
      `${name} sends another frame in place of an event`,
      withSimulator({}, async (simulator) => {
        const socket = await openChannel(simulator, DEVICE);
        simulator.fail(name, { times: 1 });
        const frame = nextFrame(socket);
        simulator.upload(DEVICE, 'lost');
        assert.match(await frame, text);
        const event = nextEvent(socket);
        simulator.upload(DEVICE, 'next');
        assert.equal(((await event) as { body: string }).body, 'bmV4dA==');
        assert.equal(simulator.device(DEVICE).uploads.length, 2);
      }),
    );
  }

  it(
    'noise sends 500 frames of 3 bytes, and then the event',
    withSimulator({}, async (simulator) => {
      const socket = await openChannel(simulator, DEVICE);
      simulator.fail('noise', { times: 1 });
      const frames: string[] = [];
      socket.on('message', (data: Buffer) => frames.push(data.toString()));
      simulator.upload(DEVICE, 'x');
      await until(() => frames.length === 501, 'all frames');
      assert.deepEqual(new Set(frames.slice(0, -1)), new Set(['abc']));
      assert.match(frames.at(-1)!, /"body":"eA=="/);
    }),
  );

  it(
    'binary sends the event in a binary frame',
    withSimulator({}, async (simulator) => {
      const socket = await openChannel(simulator, DEVICE);
      simulator.fail('binary');
      const message = once(socket, 'message');
      simulator.upload(DEVICE, 'x');
      assert.equal((await message)[1], true);
    }),
  );

  const broken: [FaultName, string][] = [
    ['bad-utf8', 'WS_ERR_INVALID_UTF8'],
    ['masked-frame', 'WS_ERR_UNEXPECTED_MASK'],
    ['rsv-frame', 'WS_ERR_UNEXPECTED_RSV_1'],
    ['bad-close-code', 'WS_ERR_INVALID_CLOSE_CODE'],
  ];
  for (const [name, code] of broken) {
    it(
      `${name} breaks the protocol`,
      withSimulator({}, async (simulator) => {
        const socket = await openChannel(simulator, DEVICE);
        simulator.fail(name);
        const error = once(socket, 'error');
        simulator.upload(DEVICE, 'x');
        assert.equal(((await error)[0] as NodeJS.ErrnoException).code, code);
        await until(() => simulator.channels() === 0);
      }),
    );
  }

  it(
    'silence keeps the connection but sends neither events nor pongs, until it is lifted',
    withSimulator({}, async (simulator) => {
      const socket = await openChannel(simulator, DEVICE);
      const heard: string[] = [];
      socket.on('message', () => heard.push('event')).on('pong', () => heard.push('pong'));
      const lift = simulator.fail('silence', { chipid: DEVICE });
      simulator.upload(DEVICE, 'unheard');
      socket.ping();
      socket.send('{"type":"heartbeat"}');
      await until(() => simulator.frames.length === 1);
      lift();
      socket.ping();
      await until(() => heard.length > 0);
      assert.deepEqual(heard, ['pong']);
      assert.equal(simulator.device(DEVICE).uploads.length, 1);
    }),
  );
});
