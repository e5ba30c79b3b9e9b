// What every node knows of the config node of an application, in both halves: nothing here needs Node.js.

export const APP_TYPE = 'device-cloud-app';

/** How the service writes `body` in history records; `auto`: learned from uploads that came both ways. */
export const HISTORY_ENCODINGS = ['auto', 'text', 'base64', 'trimmed', 'tagged'] as const;
export type HistoryEncoding = (typeof HISTORY_ENCODINGS)[number];

/** The charset of text that is not valid UTF-8 in an upload, and of text pushed over the channel. */
export const CHARSETS = ['utf-8', 'gbk'] as const;
export type Charset = (typeof CHARSETS)[number];

/** The time zone is learned from uploads that came both ways. */
export const AUTO_ZONE = 'auto';

/** The time zone until it is learned: section 5.1 names Beijing time as the server's. */
export const DEFAULT_ZONE = '+08:00';
