import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { comesToHold, until } from '../tooling/until';
import { temporaryFolder } from '../tooling/temporary-folder';
import { audit, type Audit } from './audit';
import { auditFleet, unsettled, type FleetAudit } from './fleet-audit';
import { createDice } from './dice';
import { createKilling, type Killing } from './killing';
import { readLines, readRecords, type Usage } from './lines';
import { prepareUserDir, savedPositions, startNodeRed } from './node-red';
import type { Files } from './nodes';
import type { Note } from './notes';
import type { SoakOptions } from './options';
import { startService, type Report, type Service } from './service';

/** What a soak gave. */
export interface Outcome extends Audit {
  fleet: FleetAudit;
  report: Report;
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

/**
 * Every channel is open and every history has been read: from now on each upload counts.
 * @param userDir where positions are kept; what is uploaded before a kill without one is not given back
 */
async function ready(service: Service, devices: number, userDir?: string): Promise<void> {
  const isReady = (): boolean => service.open() === devices && service.read.size === devices;
  await until(isReady, 'the listener has connected', READY_LIMIT);
  // The last answers have left the service; now they have been taken.
  await sleep(1500);
  if (userDir === undefined) return;
  const isKept = (): boolean => Object.keys(savedPositions(userDir)).length === devices;
  await until(isKept, 'positions are written', READY_LIMIT);
}

/** @returns whether everything has come to rest in time */
async function quiet(service: Service, killing: Killing, files: Files): Promise<boolean> {
  let seen = 0;
  let since = Date.now();
  const isQuiet = async (): Promise<boolean> => {
    await Promise.race([sleep(500), killing.red.crashed]);
    const { length } = readRecords(files.records).emitted;
    const notes = readLines<Note>(files.notes);
    const all = length + notes.length;
    const isOpen = service.open() === service.chipids.length;
    const isBusy = length < service.accepted.length || !isOpen || unsettled(notes) > 0;
    if (all !== seen || isBusy) since = Date.now();
    seen = all;
    return Date.now() - since >= REST;
  };
  return comesToHold(isQuiet, QUIET_LIMIT);
}

/** Runs a soak in a folder of its own, which is removed after it. */
export async function soak(options: SoakOptions): Promise<Outcome> {
  const { devices, seed, isPublic, minutes, kill } = options;
  const folder = temporaryFolder('soak');
  const files: Files = {
    userDir: join(folder, 'user'),
    records: join(folder, 'records'),
    notes: join(folder, 'notes'),
    go: join(folder, 'go'),
  };
  const service = await startService(options);
  const { accepted, chipids, peers } = service;
  const recover = kill ? 'restart' : 'reconnect';
  // What was uploaded is compared to the byte where a history loses some.
  prepareUserDir(files, service, { recover, datatype: isPublic ? 'utf8' : 'auto-detect' });
  const first = await startNodeRed(files.userDir);
  await Promise.race([ready(service, devices, kill ? files.userDir : undefined), first.crashed]);

  const end = Date.now() + minutes * 60_000;
  service.begin();
  writeFileSync(files.go, '');
  const killing = createKilling(first, files, accepted, createDice(`${seed} kills`));
  if (kill) await killing.until(end);
  else await Promise.race([sleep(end - Date.now()), first.crashed]);
  rmSync(files.go);
  await service.calm();
  const calmAt = Date.now();

  const isQuiet = await quiet(service, killing, files);
  const report = service.report();
  await killing.red.end('SIGTERM');
  await service.close();
  const { emitted, usage } = readRecords(files.records);
  const notes = readLines<Note>(files.notes);
  return {
    ...audit(chipids, accepted, emitted, isPublic),
    fleet: auditFleet(notes, report.acted, { chipids, peers, calmAt }),
    ...{ report, usage, quiet: isQuiet, log: killing.log },
    ...{ kills: killing.kills, unwritten: killing.unwritten },
  };
}
