import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { comesToHold, until } from '../tooling/until';
import { temporaryFolder } from '../tooling/temporary-folder';
import { audit, type Audit } from './audit';
import { auditFleet, unsettled, type FleetAudit } from './fleet-audit';
import { createDice } from './dice';
import { isLossy } from './kept';
import { createKilling, type Files, type Killing } from './killing';
import { readAccepted, readRecords, type Usage } from './lines';
import { prepareUserDir, startNodeRed } from './node-red';
import { readNotes, type NoteFiles } from './notes';
import type { SoakOptions } from './options';
import type { ServiceState } from './service-messages';
import { startService, type ServiceProcess } from './service-process';

/** What a soak gave. */
export interface Outcome extends Audit {
  fleet: FleetAudit;
  state: ServiceState;
  usage: Usage[];
  kills: number;
  unwritten: number;
  /** Whether everything had come to rest before the time was up. */
  quiet: boolean;
  /** What Node-RED has logged. */
  log: string;
}

const READY_LIMIT = 60_000;
/** Back-off goes up to a minute, and a reading may wait for another one. */
const QUIET_LIMIT = 180_000;
/** Nothing has come for so long: nothing more is under way. */
const REST = 10_000;

/** Every channel is open and every history has been read: from now on each upload counts. */
async function ready(service: ServiceProcess, devices: number): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const { channels, devicesRead } = await service.tell('state');
    return channels === devices && devicesRead === devices;
  };
  await until(isReady, 'the listener has connected', READY_LIMIT);
  // The last answers have left the service; now they have been taken, and written down.
  await sleep(1500);
}

/** @returns whether everything has come to rest in time */
async function quiet(
  service: ServiceProcess,
  killing: Killing,
  files: Files & NoteFiles,
  devices: number,
): Promise<boolean> {
  const accepted = readAccepted(files.accepted).length;
  let seen = 0;
  let since = Date.now();
  const isQuiet = async (): Promise<boolean> => {
    await sleep(500);
    const { channels } = await Promise.race([service.tell('state'), killing.red.crashed]);
    const { length } = readRecords(files.records).emitted;
    const notes = readNotes(files.notes);
    const all = length + notes.length;
    const isBusy = length < accepted || channels < devices || unsettled(notes) > 0;
    if (all !== seen || isBusy) since = Date.now();
    seen = all;
    return Date.now() - since >= REST;
  };
  return comesToHold(isQuiet, QUIET_LIMIT);
}

async function soakIn(folder: string, options: SoakOptions): Promise<Outcome> {
  const { devices, rate, seed, cut, history, dialect, replace, minutes, kill } = options;
  const files: Files & NoteFiles = {
    userDir: join(folder, 'user'),
    accepted: join(folder, 'accepted'),
    records: join(folder, 'records'),
    notes: join(folder, 'notes'),
    go: join(folder, 'go'),
  };
  const service = await startService({
    devices,
    rate,
    seed,
    cut,
    history,
    dialect,
    replace,
    acceptedFile: files.accepted,
  });
  const recover = kill ? 'restart' : 'reconnect';
  const { notes, go } = files;
  const lossy = isLossy(history);
  // What was uploaded is compared to the byte where a history loses some.
  const listener = { recover, datatype: lossy ? 'utf8' : 'auto-detect' } as const;
  prepareUserDir(files.userDir, files.records, { notes, go }, service.address, listener);
  const first = await startNodeRed(files.userDir);
  await Promise.race([ready(service, devices), first.crashed]);

  const end = Date.now() + minutes * 60_000;
  await service.tell('begin');
  writeFileSync(go, '');
  const killing = createKilling(first, files, createDice(`${seed} kills`));
  if (kill) await Promise.race([killing.until(end), service.child.crashed]);
  else await Promise.race([sleep(end - Date.now()), first.crashed, service.child.crashed]);
  rmSync(go);
  await service.tell('calm');
  const calmAt = Date.now();

  const isQuiet = await quiet(service, killing, files, devices);
  const state = await service.tell('acted');
  await killing.red.end('SIGTERM');
  await service.child.end('SIGKILL');
  const { emitted, usage } = readRecords(files.records);
  const { kills, unwritten } = killing;
  const result = audit(service.address.chipids, readAccepted(files.accepted), emitted, lossy);
  const { chipids, peers } = service.address;
  const fleet = auditFleet(readNotes(notes), state.acted ?? {}, { chipids, peers, calmAt });
  return {
    ...result,
    fleet,
    state,
    usage,
    kills,
    unwritten,
    quiet: isQuiet,
    log: killing.red.log(),
  };
}

/** Runs a soak in a folder of its own, which is removed after it. */
export const soak = (options: SoakOptions): Promise<Outcome> =>
  soakIn(temporaryFolder('soak'), options);
