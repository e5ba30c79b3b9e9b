import { dump } from 'js-yaml';
import { parseJson } from '../util/json';
import { Recording, type CallLine, type RecordedLine, type UploadLine } from './read';

/*
 * A test of a flow, made of a recording: what the devices did is given, and what the flow did is expected. It is for a
 * person to go on with, so it is short, and no larger than device-cloud-test reads.
 */

/** Uploads, and expectations. */
const MAX_STEPS = 300;
/** Bytes of uploads and pushes in all, and of one. The largest file of tests has 1 MiB. */
const MAX_BYTES = 256 * 1024;
const MAX_BODY = 32 * 1024;
/** Levels of JSON that are written as YAML; deeper values are written as text. */
const MAX_DEPTH = 20;

type Step = Readonly<Record<string, object>>;

const PIN = /^set_gpio_edge\/\d+\/(\d{1,2})\/([01])\/$/;
const PUSH = 'dev/push/message/';

/** A number where YAML can hold it. */
const numberOf = (chipid: string): number | string =>
  Number.isSafeInteger(Number(chipid)) ? Number(chipid) : chipid;

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;

/** What JSON or text means, where exactly these bytes are made of it again; otherwise the bytes. */
function readable(bytes: Buffer): unknown {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return new Uint8Array(bytes);
  try {
    const value = parseJson(text);
    const isOwn = typeof value === 'object' && value !== null && JSON.stringify(value) === text;
    if (isOwn && depthOf(value) <= MAX_DEPTH) return value;
  } catch {
    // It is text.
  }
  return text;
}

function expectedPush(chipid: string, bytes: Buffer): Step {
  const found = readable(bytes);
  // A push is compared as text, and as JSON with an object.
  const match = found instanceof Uint8Array ? { any: true } : found;
  return { pushed: { chipid: numberOf(chipid), match } };
}

/** What a call has a device do; undefined if it failed, or only asks. */
function expectedCall({ method, path, params = {}, chipid, code }: CallLine): Step | undefined {
  if (chipid === undefined || code !== undefined || method !== 'POST') return undefined;
  const [, pin, level] = PIN.exec(path) ?? [];
  if (pin !== undefined)
    return { pin: { chipid: numberOf(chipid), pin: Number(pin), level: Number(level) } };
  const { message, format } = params;
  if (path !== PUSH || message === undefined) return undefined;
  // As the device gets it.
  const encoding = format === 'HEX' ? 'hex' : format === 'B64' ? 'base64' : 'utf8';
  return expectedPush(chipid, Buffer.from(message, encoding));
}

/** Collects steps up to the limits. */
class Steps {
  readonly given: Step[] = [];
  readonly expect: Step[] = [];
  isCut = false;
  #bytes = 0;
  readonly #known = new Set<string>();

  read(line: RecordedLine): void {
    if (line.kind === 'upload') this.#upload(line);
    else if (line.kind === 'push')
      this.#expect(expectedPush(line.chipid, Buffer.from(line.body, 'base64')), line.body.length);
    else if (line.kind === 'call') {
      const step = expectedCall(line);
      if (step) this.#expect(step, JSON.stringify(step).length);
    }
  }

  #upload({ chipid, body }: UploadLine): void {
    if (!this.#fits(this.given, body.length)) return;
    const payload = readable(Buffer.from(body, 'base64'));
    this.given.push({ upload: { chipid: numberOf(chipid), payload } });
  }

  /** One that is expected twice is met by the same event: once is enough. */
  #expect(step: Step, size: number): void {
    const key = JSON.stringify(step);
    if (this.#known.has(key) || !this.#fits(this.expect, size)) return;
    this.#known.add(key);
    this.expect.push(step);
  }

  #fits(steps: readonly Step[], size: number): boolean {
    const fits = steps.length < MAX_STEPS && size <= MAX_BODY && this.#bytes + size <= MAX_BYTES;
    if (fits) this.#bytes += size;
    else this.isCut = true;
    return fits;
  }
}

/**
 * Makes a test for `device-cloud-test` of a recording, as YAML.
 * @throws RecordingError if it cannot be read
 */
export async function testFromRecording(path: string): Promise<string> {
  const recording = await Recording.open(path);
  const steps = new Steps();
  for await (const lines of recording.lines()) lines.forEach((line) => steps.read(line));
  const { given, expect, isCut } = steps;
  const comments = [
    'Made of a recording: what devices uploaded is given, and the pins that were set and the messages that were',
    'pushed are expected. Remove what does not matter, and add what your nodes have to send ("message").',
    'The pauses between the uploads are left out: where they matter, add "- wait: SECONDS".',
    ...(isCut
      ? [
          `It is cut: there are at most ${MAX_STEPS} uploads and ${MAX_STEPS} expectations, and long contents are left out.`,
        ]
      : []),
  ];
  const test = {
    name: 'As recorded',
    given,
    expect: expect.length > 0 ? expect : [{ noError: true }],
  };
  const text = dump([test], { lineWidth: 120, noRefs: true });
  return `${comments.map((line) => `# ${line}\n`).join('')}${text}`;
}
