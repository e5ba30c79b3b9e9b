import assert from 'node:assert/strict';
import { keyFaults, keyWarnings } from '../../../src/protocol/pasted-key';

describe('what looks wrong about a key', () => {
  const KEYS: readonly [what: string, key: string, faults: string[]][] = [
    ['nothing', 'aB3/+=_-', []],
    ['a blank before and after', ' key ', ['blank start', 'blank end']],
    ['a blank within', 'a key', ['blank inside']],
    ['the line end of Windows', 'key\r\n', ['line-end end']],
    [
      'blanks and line ends',
      '\n key \n',
      ['line-end start', 'blank start', 'blank end', 'line-end end'],
    ],
    ['a line separator', 'a\u2028b', ['line-end inside']],
    ['full-width letters and digits', 'Ｋｅｙ１', ['full-width inside']],
    ['a byte order mark', '\ufeffkey', ['invisible start']],
    ['a zero-width space', 'ke\u200by', ['invisible inside']],
    ['a soft hyphen and an override', 'k\u00ade\u202ey', ['invisible inside']],
    ['nothing but blanks', '  ', ['blank start']],
  ];
  for (const [what, key, faults] of KEYS) {
    it(`is found: ${what}`, () => {
      assert.deepEqual(
        keyFaults(key).map(({ code, where }) => `${code} ${where}`),
        faults,
      );
    });
  }

  it('is reported for the setting, without the key', () => {
    const warnings = keyWarnings({ appid: 10001, appkey: 'Canary\n', serverPassword: 'Ｃanary' });
    assert.deepEqual(
      warnings.map(({ setting, message }) => [setting, message]),
      [
        ['appkey', 'The app key ends with a line end.'],
        ['serverPassword', "The server API's password contains full-width characters."],
      ],
    );
  });
});
