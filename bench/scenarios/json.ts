import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as contents from '../../tooling/json-contents';
import { startMeter } from '../meter';
import type { Plan } from '../plan';
import { column, type Job, type Scenario, type Values } from '../scenario';

/** Milliseconds for which an answer may block the event loop, even if the bare parser is much faster. */
const ENOUGH = 400;

type Parse = (bytes: Buffer) => unknown;

function parser({ subject, packageFolder }: Job): Parse {
  if (subject === 'bare') return (bytes) => JSON.parse(bytes.toString('utf8')) as unknown;
  const load = createRequire(join(packageFolder, 'package.json'));
  return (load('./dist/src/util/json.js') as { parseJson: Parse }).parseJson;
}

/** The CPU of parsing a content once, in ms, its refusal included. */
function cpuOf(parse: Parse, bytes: Buffer): number {
  const meter = startMeter();
  try {
    parse(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return meter(1).cpu / 1000;
}

/** Refused before they are parsed: the bare parser may need half a minute and gigabytes for them. */
const REFUSED = [contents.BRACKETS, contents.EMPTY_OBJECTS, contents.FIELDS];
const measured = Object.values(contents).filter((content) => !REFUSED.includes(content));

/** Answers as long as they may be, of the contents that take longest. */
export const json = ({ rounds }: Plan): Scenario => ({
  name: 'json',
  title: 'JSON of 64 MiB',
  subjects: [
    { name: 'bare', label: 'decoding, JSON.parse' },
    { name: 'ours', label: 'parseJson' },
  ],
  columns: measured.map(({ name }) => column(name, name, 'ms', 0, 'lower')),
  goals: measured.map(({ name }) => ({
    of: 'ours',
    by: 'bare',
    column: name,
    most: 2,
    enough: ENOUGH,
  })),
  rounds,
  measure(job) {
    const parse = parser(job);
    const values: Values = {};
    for (const { name, make } of measured) values[name] = cpuOf(parse, make());
    return Promise.resolve(values);
  },
});
