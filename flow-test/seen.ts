import { nodesNamed } from './flows';
import { brief, difference } from './match';
import type { FlowNode, Report } from './protocol';
import type { Sight } from './tests';

/** Something that the flow did, `at` ms since 1970. */
export type Seen =
  | Exclude<Report, { kind: 'overflow' }>
  | {
      readonly kind: 'pin';
      readonly at: number;
      readonly chipid: string;
      readonly pin: number;
      readonly level: 0 | 1;
    }
  | {
      readonly kind: 'pushed';
      readonly at: number;
      readonly chipid: string;
      readonly text: string;
    };

/** Whether something is about the same node, or the same device and pin. */
export function concerns(sight: Sight, seen: Seen, nodes: readonly FlowNode[]): boolean {
  if (sight.kind === 'pin')
    return seen.kind === 'pin' && seen.chipid === sight.chipid && seen.pin === sight.pin;
  if (sight.kind === 'pushed') return seen.kind === 'pushed' && seen.chipid === sight.chipid;
  return seen.kind === sight.kind && nodesNamed(nodes, sight.at).some(({ id }) => id === seen.node);
}

/** Whether a status is that of a listener that has opened its channels, or cannot. */
export function isListening(status: unknown): boolean {
  const { fill, text } = Object(status) as { fill?: unknown; text?: unknown };
  if (fill !== 'green') return fill === 'red' || fill === 'blue';
  const [, open, all] = /^(\d+)\/(\d+)$/.exec(String(text)) ?? [];
  return open === all;
}

/** How something that {@link concerns} a sight differs from it; undefined if it does not. */
export function differs(sight: Sight, seen: Seen): string | undefined {
  switch (sight.kind) {
    case 'message':
      return seen.kind === 'message' ? compare(sight, seen.msg) : '';
    case 'status': {
      const status = seen.kind === 'status' ? (Object(seen.status) as { text?: unknown }) : {};
      return compare(sight, typeof sight.match === 'string' ? status.text : status);
    }
    case 'pushed':
      return seen.kind === 'pushed' ? compare(sight, pushedAs(sight.match, seen.text)) : '';
    case 'pin':
      return seen.kind === 'pin' && seen.level !== sight.level ? 'another level' : undefined;
    default:
      if (sight.code === undefined || (seen.kind === 'error' && seen.code === sight.code))
        return undefined;
      return 'another code';
  }
}

const compare = (sight: { readonly match?: unknown }, found: unknown): string | undefined =>
  'match' in sight ? difference(sight.match, found) : undefined;

/** A push is text. It is read as JSON where something else than text is looked for. */
function pushedAs(wanted: unknown, text: string): unknown {
  if (typeof wanted === 'string' || Object.hasOwn(Object(wanted), 'regex')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a sight is, in words. */
export function wordsOf(sight: Sight): string {
  switch (sight.kind) {
    case 'message': {
      const count = sight.count === undefined ? 'a message' : `${sight.count} messages`;
      return `${count} at "${sight.at}"${like(sight)}`;
    }
    case 'status':
      return `the status of "${sight.at}"${like(sight)}`;
    case 'error':
      return `an error of "${sight.at}"${sight.code === undefined ? '' : ` with the code ${sight.code}`}`;
    case 'pin':
      return `pin ${sight.pin} of ${sight.chipid} set to ${sight.level}`;
    default:
      return `a push to ${sight.chipid}${like(sight)}`;
  }
}

const like = (sight: { readonly match?: unknown }): string =>
  'match' in sight ? ` like ${brief(sight.match)}` : '';

/** What was seen, in words. */
export function wordsOfSeen(seen: Seen): string {
  switch (seen.kind) {
    case 'message':
      return brief(seen.msg);
    case 'status':
      return brief(seen.status);
    case 'error':
      return seen.message;
    case 'pin':
      return `set to ${seen.level}`;
    default:
      return brief(seen.text);
  }
}
