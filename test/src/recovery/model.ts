import { Ledger } from '../../../src/recovery/matching/ledger';
import type { Position } from '../../../src/recovery/position/position';
import type { Recorded } from '../../../src/recovery/records/recorded';

/** What can happen to one device, its service and its listener. */
export type Step =
  | { kind: 'upload'; body: string }
  | { kind: 'drop' }
  | { kind: 'connect'; duringRead: string[]; afterAnswer: string[]; fails: number }
  | { kind: 'checkpoint'; duringRead: string[]; afterAnswer: string[] }
  | { kind: 'restart' };

/**
 * A service, a listener over a ledger, and what the listener has emitted. Uploads reach the history
 * and, when a channel is open, the listener; a reading may race with further uploads.
 */
export function createModel() {
  const accepted: string[] = [];
  const emitted: string[] = [];
  let saved: Position | undefined;
  let ledger = new Ledger();
  let connected = false;
  let holding = false;

  const save = (): void => {
    saved = ledger.position() ?? saved;
  };
  const record = (body: string, index: number): Recorded => ({
    id: BigInt(index + 1),
    key: body,
    upload: () => ({
      ...{ chipid: '1', appid: '1', timestamp: 0, replayed: true },
      body: Buffer.from(body),
    }),
  });
  const upload = (body: string): void => {
    accepted.push(body);
    if (!connected) return;
    const live = { chipid: '1', appid: '1', timestamp: 0, body: Buffer.from(body) };
    if (holding) ledger.add(body, 0, live);
    else {
      emitted.push(body);
      ledger.add(body, 0);
      save();
    }
  };
  const read = (duringRead: string[], afterAnswer: string[]): void => {
    ledger.mark();
    duringRead.forEach(upload);
    const records = accepted.map(record);
    afterAnswer.forEach(upload);
    const { due } = ledger.settle(records);
    holding = false;
    for (const each of due) emitted.push(each.upload().body.toString());
    save();
  };
  const drop = (): void => {
    connected = false;
    holding = false;
    ledger.drop();
  };
  const connect = (duringRead: string[], afterAnswer: string[], fails: number): void => {
    if (connected) drop();
    connected = true;
    ledger.gap();
    holding = ledger.hasPosition;
    for (let attempt = 0; attempt < fails; attempt++) {
      ledger.mark();
      duringRead.forEach(upload);
    }
    read(duringRead, afterAnswer);
  };

  return {
    accepted,
    emitted,
    run(step: Step): void {
      switch (step.kind) {
        case 'upload':
          upload(step.body);
          break;
        case 'drop':
          drop();
          break;
        case 'connect':
          connect(step.duringRead, step.afterAnswer, step.fails);
          break;
        case 'checkpoint':
          if (connected) read(step.duringRead, step.afterAnswer);
          break;
        case 'restart':
          drop();
          ledger = new Ledger(saved);
          break;
      }
    },
  };
}
