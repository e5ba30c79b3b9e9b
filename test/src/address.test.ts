import assert from 'node:assert/strict';
import { parseBaseUrl } from '../../src/settings';
import { thrown } from './support/failure';

describe('the address of the service', () => {
  const good: [text: string, origin: string, channelOrigin: string][] = [
    ['https://cloud.example.com/', 'https://cloud.example.com', 'wss://cloud.example.com'],
    ['  http://127.0.0.1:8080/ ', 'http://127.0.0.1:8080', 'ws://127.0.0.1:8080'],
    [
      'HTTPS://Cloud.Example.COM:8443',
      'https://cloud.example.com:8443',
      'wss://cloud.example.com:8443',
    ],
    ['http://[::1]:8080', 'http://[::1]:8080', 'ws://[::1]:8080'],
  ];
  for (const [text, origin, channelOrigin] of good) {
    it(`can be ${text.trim()}`, () => {
      assert.deepEqual(parseBaseUrl(text), { origin, channelOrigin });
    });
  }

  const bad: [value: unknown, why: RegExp][] = [
    [undefined, /missing/],
    [new URL('https://cloud.example.com'), /not text/],
    ['   ', /missing/],
    ['cloud.example.com', /not a URL/],
    ['http://${HOST}:${PORT}', /the variable HOST, but a variable must be the whole address/],
    ['https://$(HOST)', /the variable HOST,/],
    ['wss://cloud.example.com', /https:\/\/ or http:\/\//],
    ['https://cloud.example.com/openapi', /no path/],
    ['https://cloud.example.com//', /no path/],
    ['https://cloud.example.com/?', /no query/],
    ['https://cloud.example.com/#x', /no query and no fragment/],
    ['https://me:secret@cloud.example.com', /no user name/],
  ];
  for (const [text, why] of bad) {
    it(`cannot be ${JSON.stringify(text)}, and the error says why`, () => {
      const { message } = thrown(() => parseBaseUrl(text), 'NOT_CONFIGURED');
      assert.match(message, why);
      assert.match(message, /for example https:\/\/cloud\.example\.com:8443/);
      assert.doesNotMatch(message, /secret/);
    });
  }
});
