import {
  DEVICES_PATH,
  HISTORY_ENCODING,
  HISTORY_ORDER,
  NO_ANSWER_AFTER,
  PUBLIC_APPKEY,
  PUBLIC_HISTORY_LIMIT,
  SERVER_ZONE,
  TIMESTAMP_WINDOW,
} from '../assumptions';

/** How the simulator answers: as the service's document says, or as the public server of 2016 did. */
export const DIALECT_NAMES = ['document', 'public-2016'] as const;
/** The name of a dialect. */
export type DialectName = (typeof DIALECT_NAMES)[number];

export const HISTORY_ENCODINGS = ['text', 'base64', 'trimmed', 'tagged'] as const;
/**
 * How histories write a `body`: as text, as Base64, without the white space at its ends, or so and without its
 * commas and what stands before the first one.
 */
export type HistoryEncoding = (typeof HISTORY_ENCODINGS)[number];

export const HISTORY_ORDERS = ['oldest-first', 'newest-first', 'newest-made-first'] as const;
/** The order of a history: by arrival, or by the time of the record, to the second. */
export type HistoryOrder = (typeof HISTORY_ORDERS)[number];

/** The calls that wait for a device, by how long. */
export type Wait = 'push' | 'call' | 'refresh';

/** What a dialect decides unless an option does. */
export interface DialectDefaults {
  readonly appkey: string;
  readonly historyEncoding: HistoryEncoding;
  readonly historyOrder: HistoryOrder;
  readonly historyLimit: number;
  readonly devicesPath: 'list' | 'lists' | 'both';
  /** Seconds that a timestamp may be off. */
  readonly timestampWindow: number;
  /** Milliseconds that a call waits for a device. */
  readonly waits: Readonly<Record<Wait, number>>;
  /** The zone of the times in histories, milliseconds ahead of UTC. */
  readonly zone: number;
}

/** The rows are those of what is known of the public server of 2016. */
export const DIALECT_DEFAULTS: Readonly<Record<DialectName, DialectDefaults>> = {
  document: {
    // Mixed case shows a sign that lowercases wrongly.
    appkey: 'Simulator-AppKey',
    historyEncoding: HISTORY_ENCODING,
    historyOrder: HISTORY_ORDER,
    historyLimit: 10_000,
    devicesPath: DEVICES_PATH,
    timestampWindow: TIMESTAMP_WINDOW,
    waits: { push: NO_ANSWER_AFTER, call: NO_ANSWER_AFTER, refresh: NO_ANSWER_AFTER },
    zone: SERVER_ZONE,
  },
  'public-2016': {
    appkey: PUBLIC_APPKEY,
    // Row 12.
    historyEncoding: 'tagged',
    // Row 13, and that the zone is UTC.
    historyOrder: 'newest-made-first',
    historyLimit: PUBLIC_HISTORY_LIMIT,
    zone: 0,
    // Row 3.
    devicesPath: 'lists',
    // Row 1.
    timestampWindow: 3600,
    // Row 7.
    waits: { push: 50_000, call: 5000, refresh: 8000 },
  },
};
