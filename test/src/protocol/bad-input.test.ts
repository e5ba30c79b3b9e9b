import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import {
  BAD_BODIES,
  BAD_CHIPIDS,
  BAD_DEVICEIDS,
  BAD_LEVELS,
  BAD_MESSAGES,
  BAD_PINS,
  BAD_QUERIES,
} from '../support/bad-values';
import { clientOf } from '../support/client';
import { failure } from '../support/failure';
import { gone, resources } from '../support/resources';
import { httpService, json, type HttpService } from '../../tooling/servers/http-service';
import { settled } from '../../tooling/until';

/** The types refuse each of the values: this is for callers without types. */
type Call = (client: DeviceCloudClient, bad: never) => Promise<unknown>;

const BAD: [what: string, values: readonly (readonly [string, unknown])[], calls: Call[]][] = [
  [
    'chip number',
    BAD_CHIPIDS,
    [
      (client, bad) => client.push(bad, 'x'),
      (client, bad) => client.pushOverChannel(bad, 'x'),
      (client, bad) => client.uploadHistory(bad),
      (client, bad) => client.pushHistory(bad),
      (client, bad) => client.rtStatus(bad, 'key'),
      (client, bad) => client.gpioStatus(bad),
      (client, bad) => client.setGpioEdge(bad, 1, 1),
      (client, bad) => client.pulseGpio(bad, 1, 1),
      (client, bad) => client.refresh(bad),
      (client, bad) => client.reboot(bad),
    ],
  ],
  ['pin', BAD_PINS, [(client, bad) => client.setGpioEdge(1, bad, 1), (client, bad) => client.pulseGpio(1, bad, 1)]], // prettier-ignore
  ['level', BAD_LEVELS, [(client, bad) => client.setGpioEdge(1, 1, bad), (client, bad) => client.pulseGpio(1, 1, bad)]], // prettier-ignore
  [
    'message',
    BAD_MESSAGES,
    [
      (client, bad) => client.push(1, bad),
      (client, bad) => client.pushToApp(bad),
      (client, bad) => client.pushOverChannel(1, bad),
    ],
  ],
  [
    'hex',
    [
      ['an odd number of digits', 'abc'],
      ['no digits', 'xy'],
    ],
    [
      (client, bad) => client.push(1, bad, { format: 'HEX' }),
      (client, bad) => client.pushToApp(bad, { format: 'HEX' }),
      (client, bad) => client.pushOverChannel(1, bad, { format: 'HEX' }),
    ],
  ],
  [
    'Base64',
    [
      ['no padding', 'QQ'],
      ['no Base64', '~~~~'],
    ],
    [
      (client, bad) => client.push(1, bad, { format: 'B64' }),
      (client, bad) => client.pushOverChannel(1, bad, { format: 'B64' }),
    ],
  ],
  [
    'format',
    [
      ['in lower case', 'msg'],
      ['a number', 1],
    ],
    [
      (client, bad) => client.push(1, 'x', { format: bad }),
      (client, bad) => client.pushToApp('x', { format: bad }),
    ],
  ],
  [
    'format over the channel',
    [
      ['AT', 'AT'],
      ['LUA', 'LUA'],
    ],
    [(client, bad) => client.pushOverChannel(1, 'x', { format: bad })],
  ],
  [
    'date',
    [
      ['the 30th of February', '20260230'],
      ['a way up the path', '../apps'],
      ['null', null],
    ],
    [
      (client, bad) => client.appHistory(bad, '20260301'),
      (client, bad) => client.appHistory('20260101', bad),
    ],
  ],
  [
    'callback key',
    [
      ['empty', ''],
      ['null', null],
      ['a number', 1],
      ['half a surrogate pair', '\ud800'],
    ],
    [(client, bad) => client.rtStatus(1, bad)],
  ],
  [
    'device id',
    BAD_DEVICEIDS,
    [
      (client, bad) => client.serverDevice(bad),
      (client, bad) => client.serverUpdate(bad, {}),
      (client, bad) => client.serverPassthrough(bad, {}),
    ],
  ],
  [
    'body',
    BAD_BODIES,
    [
      (client, bad) => client.serverUpdate('a', bad),
      (client, bad) => client.serverPassthrough('a', bad),
    ],
  ],
  [
    'signal',
    [
      ['an object', {}],
      ['a controller', new AbortController()],
      ['text', 'x'],
      ['a number', 1],
      ['true', true],
      ['a target of events', new EventTarget()],
    ],
    [
      (client, bad) => client.app({ signal: bad }),
      (client, bad) => client.devices({ signal: bad }),
      (client, bad) => client.push(1, 'x', { signal: bad }),
      (client, bad) => client.pushToApp('x', { signal: bad }),
      (client, bad) => client.pushOverChannel(1, 'x', { signal: bad }),
      (client, bad) => client.uploadHistory(1, { signal: bad }),
      (client, bad) => client.reboot(1, { signal: bad }),
      (client, bad) => client.serverUpdate('a', {}, { signal: bad }),
    ],
  ],
  [
    'callback for progress',
    [
      ['text', 'x'],
      ['an object', {}],
    ],
    [
      (client, bad) => client.app({ onProgress: bad }),
      (client, bad) => client.devices({ onProgress: bad }),
      (client, bad) => client.push(1, 'x', { onProgress: bad }),
      (client, bad) => client.serverUpdate('a', {}, { onProgress: bad }),
    ],
  ],
  [
    'time for a command',
    [
      ['in capitals', 'NOW'],
      ['null', null],
      ['an array', ['now']],
    ],
    [
      (client, bad) => client.push(1, 'x', { when: bad }),
      (client, bad) => client.setGpioEdge(1, 1, 1, { when: bad }),
      (client, bad) => client.reboot(1, { when: bad }),
    ],
  ],
  [
    'query',
    BAD_QUERIES,
    [(client, bad) => client.serverDevices(bad), (client, bad) => client.serverUploads(bad)],
  ],
];

describe('invalid input never reaches the network', () => {
  let service: HttpService;
  let client: DeviceCloudClient;
  beforeEach(async () => {
    service = await httpService(json({ msg: 'OK', result: '', online: [] }));
    client = clientOf(service.baseUrl);
  });

  for (const [what, values, calls] of BAD) {
    it(`as a ${what}, whatever is wrong with it; the next valid call works`, async () => {
      await settled(1);
      const before = resources();
      for (const [, value] of values) {
        for (const call of calls) await failure(call(client, value as never), 'INVALID_INPUT');
      }
      await gone(before);
      assert.equal(service.connections(), 0);
      await client.push(1, 'good');
      assert.equal(service.requests.length, 1);
    });
  }
});
