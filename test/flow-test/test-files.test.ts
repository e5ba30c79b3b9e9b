import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTests, readUploads } from '../../flow-test/load';
import { readTests } from '../../flow-test/tests';
import { temporaryFolder } from '../tooling/temporary-folder';

/** A test of which one given or expected entry is malformed. */
const given = (entry: string): string =>
  `name: t\ngiven:\n  - ${entry}\nexpect:\n  - noError: true\n`;
const expected = (entry: string): string => `name: t\nexpect:\n  - ${entry}\n`;

describe('a file of tests', () => {
  it('has one test or a list, in YAML or JSON', () => {
    const [one] = readTests(expected('pin: { chipid: 007, pin: 5, level: 1 }'), 'a.yaml');
    assert.deepEqual(one, {
      ...{ name: 't', file: 'a.yaml', given: [] },
      expect: [{ kind: 'pin', chipid: '7', pin: 5, level: 1 }],
    });
    const json =
      '[{"name":"a","expect":[{"noError":true}]},{"name":"b","expect":[{"noError":true}]}]';
    assert.deepEqual(
      readTests(json, 'a.json').map(({ name }) => name),
      ['a', 'b'],
    );
  });

  const SIGHTS = '"message", "pin", "pushed", "status", "error"';
  const STEPS = '"upload", "uploads", "device", "inject", "set", "wait"';
  const CHIPID =
    '"chipid" must be an integer of at most 20 digits; above 9007199254740991 in quotes';
  /** What follows the name of the file in the error. */
  const WRONG: Record<string, [text: string, message: string]> = {
    YAML: ['name: t\nexpect: [\n', '3: unexpected end of the stream within a flow collection.'],
    'a name': ['expect:\n  - noError: true\n', '1: "name" must be text, but is missing.'],
    'an expectation': ['name: t\n', '1: "expect" must be a list, but is missing.'],
    'any expectation': ['name: t\nexpect: []\n', '1: "expect" of "t" is empty.'],
    'a property of a test': [
      'name: t\nonly: true\nexpect:\n  - noError: true\n',
      '1: "test" has no "only". It has "name", "expect", "given".',
    ],
    'a step': [
      given('uplaod: { chipid: 1, payload: 1 }'),
      `3: An entry of "given" has no "uplaod". It has ${STEPS}.`,
    ],
    'one step an entry': [
      given('wait: 1\n    inject: Go'),
      `3: An entry of "given" must be one of ${STEPS}: begin each with "- ".`,
    ],
    'an expectation that any object has': [
      expected('toString: 1'),
      `3: An entry of "expect" has no "toString". It has ${SIGHTS}, "none", "noError".`,
    ],
    'a payload': [given('upload: { chipid: 1 }'), '3: There is no "payload".'],
    'a value': [given('set: { node: a, property: b }'), '3: There is no "value".'],
    'a chip number': [
      given('upload: { chipid: 12345678901234567890, payload: 1 }'),
      `3: ${CHIPID}, but is 12345678901234567000.`,
    ],
    'a pin': [
      expected('pin: { chipid: 1, pin: 16, level: 1 }'),
      '3: "pin" must be a whole number from 0 to 15, but is 16.',
    ],
    'a level': [
      given('device:\n      chipid: 1\n      pins: { 5: on }'),
      '5: "5" must be 0 or 1, but is "on".',
    ],
    'a time': [
      expected('none: { message: { at: a }, for: soon }'),
      '3: "for" must be a number of seconds from 0 to 3600, but is "soon".',
    ],
    'what is not to be': [expected('none: { for: 1 }'), `3: "none" must name one of ${SIGHTS}.`],
    'an operator': [
      expected('message: { at: a, match: { payload: { gt: warm } } }'),
      '3: "gt" must be a number, but is "warm".',
    ],
    'an expression': [
      expected("message: { at: a, match: { payload: { regex: '(' } } }"),
      '3: "regex" must be a regular expression without look-around and back-references, but is "(".',
    ],
    'a message': [
      given('inject: { at: Go, msg: 5 }'),
      '3: "msg" must be an object, such as { payload: 1 }, but is 5.',
    ],
    'a speed': [
      given('uploads: { file: a.csv, speed: 0 }'),
      '3: "speed" must be a number from 0.01 to 3600, but is 0.',
    ],
  };
  for (const [what, [text, message]] of Object.entries(WRONG))
    it(`says where ${what} is missing or malformed, and what it may be`, () =>
      assert.throws(() => readTests(text, 'a.yaml'), { message: `a.yaml:${message}` }));

  it('has dates as the text that they are, and bytes', () => {
    const [test] = readTests(
      given('upload: { chipid: 1, payload: 2026-11-24 }') +
        '  - message: { at: End, match: { since: 2026-11-24T08:00:00Z, raw: !!binary aGk= } }\n',
      'a.yaml',
    );
    assert.deepEqual(test?.given, [{ kind: 'upload', chipid: '1', payload: '2026-11-24' }]);
    const match = { since: '2026-11-24T08:00:00Z', raw: Buffer.from('hi') };
    assert.deepEqual(test.expect[1], {
      ...{ kind: 'message', at: 'End', match },
    });
  });

  it('is found in folders, and needs the files that it names', () => {
    const folder = temporaryFolder('test-files');
    mkdirSync(join(folder, 'inside'));
    writeFileSync(join(folder, 'b.yaml'), 'name: second\nexpect:\n  - noError: true\n');
    writeFileSync(join(folder, 'inside', 'c.json'), '{"name":"third","expect":[{"noError":true}]}');
    writeFileSync(join(folder, 'a.yml'), '\uFEFFname: first\nexpect:\n  - noError: true\n');
    writeFileSync(join(folder, 'notes.txt'), 'no test');
    assert.deepEqual(
      loadTests([folder]).map(({ name }) => name),
      ['first', 'second', 'third'],
    );
    writeFileSync(join(folder, 'b.yaml'), given('uploads: none.csv'));
    assert.throws(() => loadTests([folder]), /b\.yaml: "uploads" of "t": there is no none\.csv\.$/);
    assert.throws(() => loadTests([join(folder, 'no')]), /there is no such file or folder\.$/);
  });
});

describe('a file of uploads', () => {
  const folder = temporaryFolder('test-uploads');
  const file = join(folder, 'uploads.csv');
  const read = (text: string) => {
    writeFileSync(file, text);
    return readUploads(file);
  };

  it('has chip numbers and payloads as they are, in any order of columns, with others beside them', () => {
    assert.deepEqual(read('note;Payload; CHIPID \nx;"{""t"": 1}"; 007 \n\n;;1'), [
      { chipid: '7', payload: '{"t": 1}', at: 0 },
      { chipid: '1', payload: '', at: 0 },
    ]);
    assert.deepEqual(read('\uFEFFpayload,chipid,x\na,1\n'), [{ chipid: '1', payload: 'a', at: 0 }]);
  });

  it('has times, counted from the first, in seconds or as a timestamp in milliseconds', () => {
    const [first, second] = [
      { chipid: '1', payload: 'a', at: 0 },
      { chipid: '1', payload: 'b', at: 1500 },
    ];
    assert.deepEqual(read('chipid,payload,after\n1,a,2\n1,b,3.5\n'), [first, second]);
    const newestFirst = 'chipid,timestamp,payload\n1,1790000001500,b\n1,1790000000000,a\n';
    assert.deepEqual(read(newestFirst), [first, second]);
  });

  it('says what is malformed, and on which line', () => {
    assert.throws(() => read('id,payload\n1,a\n'), /uploads\.csv: it has no column "chipid"\.$/);
    assert.throws(() => read('chipid,t\n1,a\n'), /uploads\.csv: it has no column "payload"\.$/);
    assert.throws(
      () => read('chipid,payload\n1,a\nx,b\n'),
      /csv:3: The chip number must be .*"x"\.$/,
    );
    assert.throws(
      () => read('chipid,payload,after\n1,a,0\n1,b\n'),
      /csv:3: "after" must be a number, but is empty\.$/,
    );
    assert.throws(() => read('chipid,payload\n1,"a\n'), /uploads\.csv: Quote Not Closed/);
  });

  it('is played within an hour, or faster', () => {
    const test = join(folder, 'day.yaml');
    const load = (uploads: string) => {
      writeFileSync(test, given(`uploads: ${uploads}`));
      return loadTests([test])[0]?.given;
    };
    const rows = read('chipid,payload,after\n1,a,0\n1,b,86400\n');
    assert.throws(
      () => load('uploads.csv'),
      /"uploads" of "t": uploads\.csv takes 24\.0 hours, .* "uploads: \{ file: uploads\.csv, speed: 144 \}" takes ten minutes/,
    );
    assert.deepEqual(load('{ file: uploads.csv, speed: 144 }'), [
      { kind: 'uploads', file: 'uploads.csv', speed: 144, rows },
    ]);
  });
});
