import type { FlowNode } from '../../tooling/node-red/nodes';

const TAB: FlowNode = { id: 'tab', type: 'tab', label: 'test', disabled: false };

/** Id of the node under test of that name. */
export const idOf = (name: string): string => `node-${name}`;

/** A node without a place in the editor counts as a config node. */
const PLACE = { x: 100, y: 100 };

/** What plain JSON lacks, written so that a message can carry it into the flow. */
export const buffer = (hex: string): unknown => ({ $buffer: hex });
/** Any value, as a JavaScript expression. */
export const js = (expression: string): unknown => ({ $js: expression });

const REVIVE = `
const revive = (value) => {
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== 'object') return value;
  if ('$buffer' in value) return Buffer.from(value.$buffer, 'hex');
  if ('$js' in value) return new Function('return (' + value.$js + ')')();
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, revive(v)]));
};
return [msg.payload.map(revive)];`;

/** Keeps each message that passes, in order of arrival, Buffers as hex. */
const record = (name: string, kind: string): string => `
const above = new Set();
const plain = (value) => {
  if (typeof value === 'object' && above.has(value)) return '[circular]';
  above.add(value);
  try {
    return copy(value);
  } finally {
    above.delete(value);
  }
};
const copy = (value) => {
  if (Buffer.isBuffer(value)) return { $buffer: value.toString('hex') };
  if (Array.isArray(value)) return value.map(plain);
  if (['bigint', 'symbol', 'function'].includes(typeof value)) return String(value);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, plain(v)]));
};
const { req, res, ...rest } = msg;
const records = global.get('records') || [];
records.push({ name: ${JSON.stringify(name)}, kind: '${kind}', msg: plain(rest) });
global.set('records', records);`;

/** Answers with the number of records, and those from an index on: the whole of them grows long. */
const READ = `
const records = global.get('records') || [];
msg.payload = { length: records.length, records: records.slice(Number(msg.req.query.from) || 0) };
return msg;`;

const fn = (id: string, func: string, wires: string[][]): FlowNode => ({
  id,
  type: 'function',
  z: 'tab',
  ...PLACE,
  name: '',
  func,
  outputs: 1,
  timeout: 0,
  noerr: 0,
  initialize: '',
  finalize: '',
  libs: [],
  wires,
});

const httpIn = (id: string, method: string, url: string, next: string[]): FlowNode => ({
  id,
  type: 'http in',
  z: 'tab',
  ...PLACE,
  name: '',
  url,
  method,
  upload: false,
  swaggerDoc: '',
  wires: [next],
});

const httpResponse = (id: string, statusCode: string): FlowNode => ({
  id,
  type: 'http response',
  z: 'tab',
  ...PLACE,
  name: '',
  statusCode,
  headers: {},
  wires: [],
});

/** The tab, and the flow over which the records are read. */
export const foundation: FlowNode[] = [
  TAB,
  httpIn('records-in', 'get', '/records', ['records-read']),
  fn('records-read', READ, [['records-out']]),
  httpResponse('records-out', '200'),
];

/**
 * A node under test and all that feeds and watches it: messages posted to `/in/<name>` reach it,
 * and what it sends, its errors, completions and statuses are recorded under its name.
 */
export function around(name: string, node: Omit<FlowNode, 'id'>): FlowNode[] {
  const watcher = (kind: string, type: string, extra: object): FlowNode[] => [
    {
      id: `${name}-${kind}-in`,
      type,
      z: 'tab',
      name: '',
      scope: [idOf(name)],
      ...PLACE,
      ...extra,
      wires: [[`${name}-${kind}`]],
    },
    fn(`${name}-${kind}`, record(name, kind), [[]]),
  ];
  return [
    httpIn(`${name}-http`, 'post', `/in/${name}`, [`${name}-accepted`, `${name}-revive`]),
    httpResponse(`${name}-accepted`, '202'),
    fn(`${name}-revive`, REVIVE, [[idOf(name)]]),
    {
      ...node,
      id: idOf(name),
      type: node.type as string,
      z: 'tab',
      name: '',
      ...PLACE,
      wires: [[`${name}-out`]],
    },
    fn(`${name}-out`, record(name, 'out'), [[]]),
    ...watcher('error', 'catch', { uncaught: false }),
    ...watcher('complete', 'complete', {}),
    ...watcher('status', 'status', {}),
  ];
}
