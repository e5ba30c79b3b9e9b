/** What is asked of the nodes: a request, or a command that waits for its device. */
export type Kind = 'request' | 'held';

/** A line about one message or one event. A life is that of a process of Node-RED. */
export type Note =
  | { what: 'asked'; kind: Kind; serial: string; life: number }
  | { what: 'ended'; kind: Kind; serial: string; life: number; code: string }
  | { what: 'event'; event: string; chipid?: string; life: number; at: number };

/** How a request ended that got the reply to another one. */
export const ANOTHER = "another one's reply";
