// What every node knows of the config node of an application, in both halves: nothing here needs Node.js.

export const APP_TYPE = 'device-cloud-app';

/** How the service writes `body` in history records; `auto`: learned from uploads that came both ways. */
export type HistoryEncoding = 'auto' | 'text' | 'base64';

/** Section 5.1 names Beijing time as the server's. */
export const DEFAULT_ZONE = '+08:00';
