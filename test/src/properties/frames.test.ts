import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readFrame } from '../../../src/channel/frames';
import type { Upload } from '../../../src/types';
import { anyBytes, anyText, holds } from '../support/fuzz';
import { eventBytes } from './base64-by-hand';
import { jsonText } from './json-text';

/** Every fault there is: none has anything in it that came from outside. */
const FAULTS = [
  'A frame is not JSON.',
  'A frame is not a JSON object.',
  'A frame is too short to have a type.',
  'A frame has no type.',
  'An upload has no body.',
  "An upload's body is not Base64.",
  'An upload has no valid chipid.',
  "An upload is another device's.",
];

const CHIPIDS = ['0', '10000001', '18446744073709551615', '18446744073709552000', '7'];
const APPID = '424242';
const ARRIVAL = 1_720_000_000_123;
const chipid = fc.constantFrom(...CHIPIDS);
const SECONDS_BELOW = 100_000_000_000;

/** A field as section 6 has it, text; or a number, of which no digit may be lost. */
function textOf(raw: string | undefined): string | undefined {
  if (raw === undefined || raw.startsWith('"')) return raw && (JSON.parse(raw) as string);
  return /^-?\d+$/.test(raw) ? String(BigInt(raw)) : String(Number(raw));
}

/** An id without its leading zeros; undefined if it is invalid. */
function digitsOf(raw: string | undefined): string | undefined {
  const text = textOf(raw);
  return text !== undefined && /^[0-9]{1,20}$/.test(text) ? String(BigInt(text)) : undefined;
}

interface Fields {
  type: string;
  appid: string;
  chipid: string;
  timestamp: string;
  body: string;
}

/** An event whose fields are JSON texts, in any order, among others. */
const eventText = (fields: Partial<Fields>, others: readonly string[] = []): string =>
  `{${[...Object.entries(fields).map(([name, raw]) => `"${name}":${raw}`), ...others].join(',')}}`;

const quoted = JSON.stringify;
const time = fc.oneof(
  fc.nat(4_000_000_000),
  fc.integer({ min: SECONDS_BELOW, max: 9_999_999_999_999 }),
);
const valid = fc.record({ chipid, appid: fc.nat().map(String), time, bytes: anyBytes });
const validFields = (event: {
  chipid: string;
  appid: string;
  time: number;
  bytes: Buffer;
}): Fields => ({
  type: '"data_upload"',
  appid: quoted(event.appid),
  chipid: quoted(event.chipid),
  timestamp: quoted(String(event.time)),
  body: quoted(event.bytes.toString('base64')),
});

/** What a frame may never be: an upload that is not the one in the text. */
function checkUpload(upload: Upload, fields: Partial<Fields>, channel: string): void {
  assert.equal(textOf(fields.type), 'data_upload');
  assert.equal(upload.chipid, channel);
  assert.equal(upload.chipid, digitsOf(fields.chipid));
  assert.equal(upload.appid, digitsOf(fields.appid) ?? APPID);
  assert.deepEqual(upload.body, eventBytes(textOf(fields.body) ?? '?'));
  const unix = Number(textOf(fields.timestamp));
  const ms = Math.round(unix < SECONDS_BELOW ? unix * 1000 : unix);
  assert.ok(upload.timestamp === ms || upload.timestamp === ARRIVAL, String(upload.timestamp));
}

const read = (text: string, channel: string): Upload | undefined => {
  const origin = { chipid: channel, appid: APPID };
  const frame = readFrame(Buffer.from(text), origin, () => ARRIVAL);
  if ('fault' in frame) assert.ok(FAULTS.includes(frame.fault), frame.fault);
  return 'upload' in frame ? frame.upload : undefined;
};

/** Values to replace a field with. */
const wrong = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '[]',
    '{}',
    '""',
    '"10000001"',
    '10000001',
    '18446744073709551615',
    '-1',
    '1e3',
    '" 1"',
    '"١"',
    '"QQ=="',
    '"QR=="',
    '"QQ"',
    '"Q"',
    '"QUI"',
    '"QU\\nI="',
    '"-_8"',
    '"Q Q="',
    '"-_=="',
    '"data_upload "',
    '"DATA_UPLOAD"',
  ),
  anyText.map((text) => quoted(text)),
  jsonText.map(({ text }) => text.trim()),
);

describe('a frame of the channel, with any content', () => {
  holds(
    'is an upload, with its exact bytes, if it is valid',
    500,
    fc.property(valid, fc.array(jsonText, { maxLength: 2 }), (event, further) => {
      const others = further.map(({ text }, index) => `"further${index}":${text}`);
      const upload = read(eventText(validFields(event), others), event.chipid);
      const timestamp = event.time < SECONDS_BELOW ? event.time * 1000 : event.time;
      const { chipid: from, appid, bytes } = event;
      assert.deepEqual(upload, { chipid: from, appid, timestamp, body: bytes });
    }),
  );

  holds(
    'is an upload of its own device only',
    300,
    fc.property(valid, chipid, (event, channel) => {
      assert.equal(
        read(eventText(validFields(event)), channel) !== undefined,
        event.chipid === channel,
      );
    }),
  );

  holds(
    'with a changed field is never an upload with other content',
    2000,
    fc.property(
      valid,
      fc.subarray(['type', 'appid', 'chipid', 'timestamp', 'body'] as const, { minLength: 1 }),
      fc.array(fc.option(wrong, { nil: undefined }), { minLength: 5, maxLength: 5 }),
      (event, changed, values) => {
        const fields: Partial<Fields> = validFields(event);
        changed.forEach((field, index) => {
          const value = values[index];
          if (value === undefined) Reflect.deleteProperty(fields, field);
          else fields[field] = value;
        });
        const upload = read(eventText(fields), event.chipid);
        if (upload) checkUpload(upload, fields, event.chipid);
      },
    ),
  );

  holds(
    'with changed text is never an upload of other bytes',
    1000,
    fc.property(valid, fc.nat(), fc.nat(3), anyText, (event, where, gone, put) => {
      const text = eventText(validFields(event));
      const at = where % (text.length + 1);
      const garbled = text.slice(0, at) + put.slice(0, 2) + text.slice(at + gone);
      const upload = read(garbled, event.chipid);
      if (!upload) return;
      const { body } = JSON.parse(garbled) as { body: string };
      assert.deepEqual(upload.body, eventBytes(body));
      assert.equal(upload.chipid, event.chipid);
    }),
  );

  holds(
    'is an upload, a fault or ignored if it is any JSON, any text or any bytes',
    1000,
    fc.property(
      fc.oneof(
        jsonText.map(({ text }) => text),
        anyText,
        anyBytes.map((bytes) => bytes.toString('utf8')),
      ),
      chipid,
      (text, channel) => assert.equal(read(text, channel), undefined),
    ),
  );
});
