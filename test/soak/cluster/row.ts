import type { Audit } from '../audit';
import type { FleetAudit } from '../fleet-audit';
import type { AtOnce } from '../service-messages';
import type { EngineUsage } from './engine';
import type { FlowKind } from './flow';
import type { Goal } from './result';
import type { Takeovers } from './takeover';
import type { MakesTrouble } from './trouble';

/** A kind of run. */
export interface Row {
  name: string;
  /** What happens in it, for the table. */
  title: string;
  /** Minutes of a whole run. */
  minutes: number;
  devices: number;
  /** Uploads a second, of all devices together. */
  rate: number;
  extra: FlowKind['extra'];
  engine: FlowKind['engine'];
  /** Whether the service closes the older of two channels of a device. */
  replace?: boolean;
  trouble: MakesTrouble;
  /** What it is to reach besides losing nothing and keeping the order. */
  goals: (measured: Measured) => Goal[];
}

/** Node-RED processes of each run. */
export const PROCESSES = 3;

/** What a row gave. */
export interface Measured extends Audit {
  row: Row;
  minutes: number;
  lease: number;
  /** How often trouble was made. */
  troubles: number;
  /** What the processes that trouble was made for emitted within 0.3 s from then on. */
  inWindow: number;
  takeovers: Takeovers;
  /** Channels opened after all had been open. */
  reopened: number;
  atOnce: AtOnce;
  /** What came of requests and of pushes that waited, of all processes. */
  fleet: Pick<FleetAudit, 'requests' | 'replied' | 'held' | 'sent' | 'wrong'>;
  acknowledged: number;
  /** Jobs that are left in the queue. */
  queued: number;
  usage: EngineUsage | undefined;
  /** How many messages each process emitted. */
  shares: number[];
  /** Whether everything had come to rest before the time was up. */
  quiet: boolean;
  /** The machine's load before the run, as an average of a minute. */
  load: number;
  logs: string[];
}
