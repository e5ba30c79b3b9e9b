// What the routes of the editor answer, for both halves. Times are in ms, by the server's clock. Of the client, these are types
// alone: the browser loads nothing of it.
import type {
  ClusterState,
  ApiTest,
  Book,
  BookRow,
  Cause,
  ChannelTest,
  DeviceSnapshot,
  KeptPin,
  KeyWarning,
  RecentCommand,
  RecentUpload,
  TestRecording,
  WaitingCommands,
} from '../../src/index';

export type { Cause, KeptPin, KeyWarning, RecentCommand, RecentUpload, TestRecording };

/** Why an interface is not tried; the editor puts it into the user's language. */
export interface Refusal {
  reason: 'retype' | 'variable' | 'network';
  /** Names of the settings concerned. */
  settings: string[];
}

/** What the test of an interface found, or why it was not tried. */
export interface ApiResult extends ApiTest, Partial<Refusal> {}

/** What the test of an application found; `null` for an interface whose keys were not given. */
export interface TestResult {
  openApi: ApiResult | null;
  serverApi: ApiResult | null;
  /** Of the open API's key, if it is accepted. */
  channel?: ChannelTest;
}

/** What the editor may know of a device: never its `devkey`. */
export interface DeviceChoice {
  chipid: string;
  name: string | null;
  latest: string;
  /** Seconds since `latest`, by the service's clock; null if it is no time of the service's, or yet to come. */
  age: number | null;
  vertype: number;
  /** Whether it is known from earlier, or from the book, and not in the list. */
  offline?: true;
  /** Of the book, by which the editor finds it. */
  groups?: string[];
}

/** An application in the editor's choice. */
export interface AppChoice {
  id: string;
  /** Of one in an instance of a subflow: the id that nodes of the subflow name. */
  template?: string;
  name: string;
  service: 'cloud' | 'simulator';
  /** How many devices are known, and how many of them are online. */
  devices: number;
  online: number;
}

type Shown = 'chipid' | 'name' | 'online' | 'since' | 'lastUpload' | 'channel' | 'waiting';
type Counted = 'reconnects' | 'recovered' | 'lastError' | 'groups' | 'type' | 'alarms' | 'missing';

/** A device as the editor shows it, without a key. */
export interface FleetRow extends Pick<DeviceSnapshot, Shown | Counted> {
  /** The beginning of its latest upload, for users who may read flows. */
  latest?: string;
  /** Only with a cluster: another process has it. */
  elsewhere?: true;
}

/** A command that waits for its device, without what it sends. */
export type WaitingChoice = ReturnType<WaitingCommands['list']>[number];

/** An upload as the editor shows it. */
export interface ShownUpload extends Omit<RecentUpload, 'body'> {
  /** Those of its fields that are numbers, if it has any. */
  numbers?: Record<string, number>;
}

/** What a device did of late, the newest first. */
export interface DeviceDetails extends FleetRow {
  /** At most 20, decoded and shortened, for users who may read flows. */
  uploads?: ShownUpload[];
  /** Of their fields, as the device's type has them. */
  units?: Readonly<Record<string, string>>;
  /** At most 20. */
  commands: RecentCommand[];
  /** Those that wait, in the order in which they will be sent. */
  waitingCommands?: WaitingChoice[];
  pins?: KeptPin[];
  /** Of the book, for users who may read flows. */
  note?: string;
}

/** The device book, with its faults. */
export interface BookAnswer {
  /** Of the file, for `If-Match` of a change; empty for a file that cannot be changed here. */
  revision: string;
  csv: string;
  /** Whether there is a file. */
  isWritten: boolean;
  /** Line 0: the file as a whole; an earlier copy stays in use. */
  problems: { line: number; reason: string }[];
  /** How many rows are left out. */
  badRows: number;
  groups: { name: string; count: number }[];
  /** As it is configured. */
  path?: string;
}

/** What the sidebar shows of the book, instead of the whole file. */
export interface BookBrief extends Omit<BookAnswer, 'csv'> {
  /** How many devices it has. */
  size: number;
  /** Of the device that was asked about, if it has one. */
  row?: BookRow;
}

/**
 * What the editor sends to change some rows of the book: what a row leaves out stays as it is. A whole file is sent as
 * `text/csv`. With `?preview` nothing is written, and the answer is a {@link BookPreview}.
 */
export interface BookChange {
  rows?: { chipid: string; name?: string; groups?: string[]; type?: string; note?: string }[];
  /** Chip numbers. */
  remove?: string[];
}

/** Bytes of a device book at most. */
export const LARGEST_BOOK = 16 * 2 ** 20;

/** What a change of the book would do, as chip numbers. */
export type BookPreview = Awaited<ReturnType<Book['preview']>>;

/** A problem of an application as a whole that a user has to solve. */
export type AppProblem =
  /** Incomplete settings, a refused key, state that would not survive a restart, or an unusable file of the device book. */
  | { kind: 'settings' | 'key' | 'store' | 'book'; reason: string }
  /** Rows of the book are left out. */
  | { kind: 'rows'; number: number }
  /** The book names a type that is not deployed. */
  | { kind: 'type'; name: string }
  /** A node uses a group that has no devices. */
  | { kind: 'group'; name: string; node: string }
  /** Histories do not contain what arrived live. */
  | { kind: 'history'; number: number; chipids: string[] };

/** What has changed in a fleet since a revision. */
export interface FleetAnswer {
  revision: number;
  devices: FleetRow[];
  /** Chip numbers. */
  removed: string[];
  /** Only if `devices` are all that are known: forget any others. */
  complete?: true;
  /** Only if the application has a device book: the revision of what is in use, empty before a file was read. */
  book?: string;
  /** The last recording of a test, which may run. */
  recording?: TestRecording;
  /** Only if there are some, for users who may read flows. */
  problems?: AppProblem[];
  /** Only with a cluster: how many of the 64 shares of the devices are this process's, and how many others there are. */
  cluster?: { state: ClusterState; owned: number; others: number };
  /** Only if uploads wait for an acknowledgement: how many, and since when the first does. */
  unacknowledged?: { count: number; since: number };
}

/** The facts that help with a problem, without secrets. */
export interface Diagnostics {
  versions: { package: string; nodeRed: string; node: string; os: string };
  /** Each application without its name and its address, which are private. */
  apps: {
    id: string;
    settings: Record<string, string | number | boolean>;
    counts: Record<string, number>;
  }[];
  errors: { app: string; chipid: string | null; code: string; message: string; at: number }[];
}
