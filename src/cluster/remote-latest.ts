import type { Bus } from './bus';
import type { KnownUpload, OtherLatest } from '../fleet/latest';
import type { Cluster } from './cluster';
import { decodeBase64 } from '../util/base64';
import { isChipid } from './messages';

/** How long an answer of the others is awaited, or its next piece, and how long all of it, in ms. */
const LIMIT = { piece: 1500, all: 15_000 };

/** The most uploads, and bytes of their bodies in Base64, in one message. */
const MOST = { uploads: 1000, bytes: 256 * 1024 };

/** The most bytes of bodies in one answer, and in all answers to one request. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The longest body, in Base64: 16 KiB are kept. */
const LONGEST = 24 * 1024;

interface Question {
  readonly open: Set<string>;
  readonly found: KnownUpload[];
  bytes: number;
  /** Waits for the next piece. */
  wait: () => void;
  end: () => void;
}

/** An answer in several pieces: the next one is sent when the one before has arrived. */
interface Answering {
  readonly id: string;
  readonly next: (isWanted: boolean) => void;
}

const SOURCES: readonly unknown[] = ['live', 'replayed', 'history'];

/** Requests the latest uploads that the other processes of a cluster know. */
export class RemoteLatest implements OtherLatest {
  private readonly questions = new Map<string, Question>();
  private readonly asking = new Map<string, Promise<readonly KnownUpload[]>>();
  /** By member: none has more than one answer in pieces at a time. */
  private readonly answering = new Map<string, Answering>();
  private count = 0;

  /** @param known what this process knows of one device, or of all */
  constructor(
    private readonly cluster: Pick<Cluster, 'member' | 'members'>,
    private readonly bus: Bus,
    private readonly known: (chipid: string | undefined) => Iterable<KnownUpload>,
  ) {
    bus.on('latest', ({ id, chipid }, from) => {
      if (typeof id === 'string' && (chipid === undefined || isChipid(chipid)))
        void this.answer(id, chipid, from);
    });
    bus.on('more', ({ id }, from) => {
      const answering = this.answering.get(from);
      if (answering && answering.id === id) answering.next(true);
    });
    bus.on('known', (data, from) => this.receive(data, from));
  }

  /**
   * Requests what the other processes know of a device, or of all; one that does not answer in time is left out.
   * Concurrent calls share an answer.
   */
  ask(chipid?: string): Promise<readonly KnownUpload[]> {
    const key = chipid ?? '';
    let asking = this.asking.get(key);
    if (!asking) {
      asking = this.question(chipid).finally(() => this.asking.delete(key));
      this.asking.set(key, asking);
    }
    return asking;
  }

  close(): void {
    for (const { end } of [...this.questions.values()]) end();
    for (const { next } of [...this.answering.values()]) next(false);
  }

  private async question(chipid: string | undefined): Promise<readonly KnownUpload[]> {
    const { member, members } = this.cluster;
    const open = new Set(members.filter((each) => each !== member));
    if (open.size === 0) return [];
    const id = `${++this.count}`;
    return new Promise((resolve) => {
      const found: KnownUpload[] = [];
      let timer: NodeJS.Timeout | undefined;
      const wait = (): void => {
        clearTimeout(timer);
        timer = setTimeout(end, LIMIT.piece);
      };
      const end = (): void => {
        clearTimeout(timer);
        clearTimeout(whole);
        this.questions.delete(id);
        resolve(found);
      };
      const whole = setTimeout(end, LIMIT.all);
      this.questions.set(id, { open, found, bytes: 0, wait, end });
      wait();
      this.bus.send(undefined, 'latest', { id, chipid }).catch(end);
    });
  }

  /** Never rejects. */
  private async answer(id: string, chipid: string | undefined, to: string): Promise<void> {
    const began = performance.now();
    let [uploads, bytes, all]: [object[], number, number] = [[], 0, 0];
    for (const { body, ...known } of this.known(chipid)) {
      const base64 = body.toString('base64');
      all += base64.length;
      if (all > MOST_BYTES) break;
      uploads.push({ ...known, body: base64 });
      bytes += base64.length;
      if (uploads.length < MOST.uploads && bytes < MOST.bytes) continue;
      this.bus.post(to, 'known', { id, uploads, isLast: false });
      const isWanted = await this.isMoreWanted(id, to);
      if (!isWanted || performance.now() - began > LIMIT.all) return;
      [uploads, bytes] = [[], 0];
    }
    this.bus.post(to, 'known', { id, uploads, isLast: true });
  }

  /** Whether a member asks for the next piece of its answer in time. */
  private isMoreWanted(id: string, member: string): Promise<boolean> {
    this.answering.get(member)?.next(false);
    return new Promise((resolve) => {
      const next = (isWanted: boolean): void => {
        clearTimeout(timer);
        this.answering.delete(member);
        resolve(isWanted);
      };
      const timer = setTimeout(next, LIMIT.all, false);
      this.answering.set(member, { id, next });
    });
  }

  private receive(data: Readonly<Record<string, unknown>>, from: string): void {
    const question = this.questions.get(String(data['id']));
    if (!question?.open.has(from) || !Array.isArray(data['uploads'])) return;
    for (const each of data['uploads'].slice(0, MOST.uploads) as unknown[]) {
      const upload = readKnown(each);
      if (!upload || question.bytes + upload.body.length > MOST_BYTES) continue;
      question.bytes += upload.body.length;
      question.found.push(upload);
    }
    if (data['isLast'] !== true) {
      question.wait();
      this.bus.post(from, 'more', { id: data['id'] });
      return;
    }
    question.open.delete(from);
    if (question.open.size === 0) question.end();
  }
}

function readKnown(value: unknown): KnownUpload | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { chipid, body, truncated, timestamp, source, altered } = value as Record<string, unknown>;
  if (!isChipid(chipid) || typeof body !== 'string' || body.length > LONGEST) return undefined;
  const bytes = decodeBase64(body);
  if (!bytes || typeof timestamp !== 'number' || !SOURCES.includes(source)) return undefined;
  return {
    ...{ chipid, body: bytes, timestamp, truncated: truncated === true },
    source: source as KnownUpload['source'],
    ...(altered === true && { altered }),
  };
}
