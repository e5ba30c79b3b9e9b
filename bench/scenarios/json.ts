import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as contents from '../../test/tooling/json-contents';
import { startMeter } from '../meter';
import type { Plan } from '../plan';
import { column, type Job, type Scenario, type Values } from '../scenario';

/** Milliseconds for which an answer may block the event loop, even if the bare parser is much faster. */
const ENOUGH = 800;

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

const ALL = Object.values(contents);
/** Refused before they are parsed: the bare parser may need half a minute and gigabytes for them. */
const REFUSED = [contents.BRACKETS, contents.EMPTY_OBJECTS, contents.FIELDS];

/** Answers as long as they may be, of the contents that take longest. */
export const json = ({ rounds }: Plan): Scenario => ({
  name: 'json',
  title: 'Parsing an answer of 64 MiB',
  subjects: [
    { name: 'bare', label: 'bare decoding and JSON.parse' },
    { name: 'ours', label: 'parseJson' },
  ],
  columns: ALL.map(({ name }) => column(name, name, 'ms', 0, 'lower')),
  goals: ALL.map(({ name }) => ({
    ...{ of: 'ours', by: 'bare', column: name, most: 2, enough: ENOUGH },
    work: 'an answer of 64 MiB, of the content that is worst',
  })),
  rounds,
  measure(job) {
    const parse = parser(job);
    const values: Values = {};
    for (const content of ALL) {
      if (job.subject === 'bare' && REFUSED.includes(content)) continue;
      values[content.name] = cpuOf(parse, content.make());
    }
    return Promise.resolve(values);
  },
});
