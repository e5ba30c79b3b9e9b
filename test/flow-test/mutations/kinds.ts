import { allow } from '../../../flow-test/allowed';
import type { FlowNode } from '../../../flow-test/flows';
import { changesOfCode } from './code';

/** A way to break a flow. */
export interface Mutation {
  readonly kind: string;
  /** What is done to which node. */
  readonly text: string;
  /** Names of the node, and of those that miss its messages. */
  readonly names: readonly string[];
  /** The flow, broken. */
  readonly nodes: readonly FlowNode[];
}

/** A node that it breaks, and what becomes of it; undefined: it is removed. */
interface Broken {
  readonly kind: string;
  readonly text: string;
  readonly node: FlowNode | undefined;
  /** Further nodes that it concerns, by id. */
  readonly others?: readonly string[];
}

type Rule = Readonly<Record<string, unknown>>;

const named = (node: FlowNode): string => node.name || node.type;

/** Nodes that are only seen in the editor, or that configure what no test has: a dashboard, a broker, a database. */
const isBreakable = ({ type }: FlowNode): boolean =>
  !/^(tab|group|comment|junction|global-config|subflow.*|ui-(base|theme|page|group)|mqtt-broker|sqlitedb)$/.test(
    type,
  ) && !/^device-cloud-(app|cluster)$/.test(type);

const replaceAt = <T>(list: readonly T[], index: number, item: T): T[] =>
  list.map((each, at) => (at === index ? item : each));

const wiresOf = ({ wires }: FlowNode): string[][] =>
  Array.isArray(wires) ? (wires as string[][]) : [];

/** JSON of which the last value differs. */
function anotherJson(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  if (Array.isArray(value))
    return [...(value as unknown[]).slice(0, -1), anotherJson(value.at(-1))];
  if (value === null) return 1;
  const entries = Object.entries(Object(value) as object);
  return Object.fromEntries(
    entries.map(([key, each], index) => [
      key,
      index < entries.length - 1 ? each : anotherJson(each),
    ]),
  );
}

/** A literal that a node sets or sends, changed; undefined if it is none. */
function anotherValue(value: unknown, type: unknown): unknown {
  const text = String(value);
  if (type === 'bool') return text === 'true' ? 'false' : 'true';
  if (type === 'num') return text === '0' ? '1' : text === '1' ? '0' : String(Number(text) + 1);
  if (type === 'str' && text !== '')
    return /^[01]$/.test(text) ? String(1 - Number(text)) : `${text}x`;
  if (type !== 'json') return undefined;
  return JSON.stringify(anotherJson(JSON.parse(text)));
}

const COMPARISONS: Readonly<Record<string, string>> = {
  ...{ eq: 'neq', neq: 'eq', gt: 'gte', gte: 'gt', lt: 'lte', lte: 'lt' },
  ...{ true: 'false', false: 'true', else: 'null', null: 'nnull', nnull: 'null' },
};

function* rulesOf(node: FlowNode): Iterable<Broken> {
  const rules = Array.isArray(node['rules']) ? (node['rules'] as Rule[]) : [];
  for (const [index, rule] of rules.entries()) {
    const changed = (kind: string, key: string, value: unknown): Broken => ({
      kind,
      text: `rule ${index + 1}: "${key}" is ${String(value)}, not ${String(rule[key])}`,
      node: { ...node, rules: replaceAt(rules, index, { ...rule, [key]: value }) },
    });
    if (node.type === 'switch') {
      if (rule['vt'] === 'num') yield changed('threshold', 'v', String(Number(rule['v']) + 1));
      if (rule['vt'] === 'str') yield changed('value', 'v', `${String(rule['v'])}x`);
      const comparison = COMPARISONS[String(rule['t'])];
      if (comparison !== undefined) yield changed('comparison', 't', comparison);
    }
    if (node.type === 'change') {
      yield changed('property', 'p', `${String(rule['p'])}X`);
      const value = anotherValue(rule['to'], rule['tot']);
      if (value !== undefined) yield changed('value', 'to', value);
      if (rule['tot'] === 'msg') yield changed('property', 'to', `${String(rule['to'])}X`);
      if (rule['tot'] === 'jsonata')
        for (const { kind, text, code } of changesOfCode(String(rule['to'])))
          yield {
            ...{ kind, text: `rule ${index + 1}: ${text}` },
            node: { ...node, rules: replaceAt(rules, index, { ...rule, to: code }) },
          };
    }
  }
}

function* sent(node: FlowNode): Iterable<Broken> {
  if (node.type !== 'inject') return;
  const props = (node['props'] ?? []) as Rule[];
  for (const [index, prop] of props.entries()) {
    const set = (more: Rule): FlowNode => ({
      ...node,
      props: replaceAt(props, index, { ...prop, ...more }),
    });
    const value = anotherValue(prop['v'], prop['vt']);
    if (value !== undefined)
      yield {
        kind: 'value',
        text: `"${String(prop['p'])}" is ${String(value)}`,
        node: set({ v: value }),
      };
    if (prop['vt'] !== undefined)
      yield {
        ...{ kind: 'property', text: `"${String(prop['p'])}" is called otherwise` },
        node: set({ p: `${String(prop['p'])}X` }),
      };
  }
  const value = anotherValue(node['payload'], node['payloadType']);
  if (value !== undefined && props.some(({ p }) => p === 'payload'))
    yield {
      kind: 'value',
      text: `the payload is ${String(value)}`,
      node: { ...node, payload: value },
    };
}

/** Values of a property of which one is as good as the other to Node-RED, but not to the flow. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string | boolean>>>> = {
  'device-cloud-gpio operation': { set: 'read', read: 'set', pulse: 'set', keep: 'set' },
  'device-cloud-gpio when': { upload: 'now', online: 'now' },
  'device-cloud-push format': {
    MSG: 'B64',
    HEX: 'MSG',
    B64: 'MSG',
    AT: 'MSG',
    LUA: 'MSG',
    msg: 'MSG',
  },
  'device-cloud-push target': { app: 'device', device: 'app' },
  'device-cloud-push transport': { channel: 'http' },
  'device-cloud-push when': { upload: 'now', online: 'now' },
  'device-cloud-devices operation': { list: 'app', app: 'list' },
  'device-cloud-history operation': { uploads: 'pushes', pushes: 'uploads', sync: 'uploads' },
  'device-cloud-history datatype': { 'auto-detect': 'raw', raw: 'auto-detect' },
  'device-cloud-history split': { true: false },
  'device-cloud-history incremental': { true: false },
  'device-cloud-server operation': {
    ...{ devices: 'uploads', device: 'devices', uploads: 'devices' },
    // Of update and passthrough the requests are the same.
    ...{ update: 'device', passthrough: 'device' },
  },
  'device-cloud-refresh offline': { answer: 'error' },
  'device-cloud-latest missing': { null: 'error', history: 'error' },
  'device-cloud-listen datatype': { 'auto-detect': 'utf8' },
  'device-cloud-listen deliver': { queue: 'here' },
  'device-cloud-request match': { property: 'next', pattern: 'next', jsonata: 'next' },
  'device-cloud-work acknowledge': { ack: 'sent' },
  'device-cloud-events start': { current: 'none', none: 'current' },
  'device-cloud-gpio many': { true: false },
  'device-cloud-push many': { true: false },
  'device-cloud-rt-status many': { true: false },
  'file overwriteFile': { true: 'false' },
  'rbe septopics': { true: false },
  'delay drop': { true: false },
  'join mode': { custom: 'auto', auto: 'custom' },
  'csv hdrout': { all: 'none' },
  'trigger extend': { true: false, false: true },
};

/** Properties that say where in a message something is, and the property that says that it is in a message, if any. */
const PATHS: Readonly<Record<string, string | undefined>> = {
  ...{ level: 'levelType', message: 'messageType', key: 'keyType', chipid: 'chipidType' },
  ...{ deviceid: 'deviceidType', body: 'bodyType', equals: 'equalsType' },
  ...{ property: undefined, field: undefined },
};

/** Properties in seconds or milliseconds of these types. */
const TIMES: Readonly<Record<string, readonly string[]>> = {
  delay: ['timeout', 'nbRateUnits'],
  trigger: ['duration'],
  join: ['timeout'],
  'device-cloud-gpio': ['duration'],
  'device-cloud-push': ['expires'],
  'device-cloud-request': ['replyTimeout'],
};

/** Whether a node looks at one of its times. */
const isTimed = ({ type, operation, when = 'now', pauseType }: FlowNode, key: string): boolean =>
  type === 'delay'
    ? (key === 'timeout') === (pauseType === 'delay')
    : (key !== 'duration' || operation === undefined || operation === 'pulse') &&
      (key !== 'expires' || when !== 'now');

const TEXTS = [
  'template',
  'filename',
  'columns',
  'temp',
  'topic',
  'pattern',
  'shard',
  'pins',
  'units',
];

function* properties(node: FlowNode): Iterable<Broken> {
  const changed = (kind: string, key: string, value: unknown): Broken => ({
    ...{ kind, text: `"${key}" is ${JSON.stringify(value)}, not ${JSON.stringify(node[key])}` },
    node: { ...node, [key]: value },
  });
  for (const [key, value] of Object.entries(node)) {
    const choice = CHOICES[`${node.type} ${key}`]?.[String(value)];
    // In which form something is that goes nowhere shows nowhere, and a group is many anyway.
    const isShown =
      (key !== 'datatype' || wiresOf(node).flat().length > 0) &&
      (key !== 'many' || node['chipidType'] !== 'group');
    if (choice !== undefined && isShown) yield changed('choice', key, choice);
    if (typeof value !== 'string' || value === '') continue;
    const type = PATHS[key];
    const isPath = key in PATHS && (type === undefined || node[type] === 'msg');
    const isUsed =
      (key !== 'property' || (node['match'] ?? 'property') === 'property') &&
      (key !== 'equals' || node['match'] === 'property') &&
      (key !== 'level' || node['operation'] !== 'read') &&
      (key !== 'body' || /^(update|passthrough)$/.test(String(node['operation']))) &&
      (key !== 'chipid' || node['target'] !== 'app') &&
      (key !== 'property' || node.type !== 'join' || node['mode'] === 'custom');
    if (isPath && isUsed && node['propertyType'] !== 'jsonata')
      yield changed('property', key, `${value}X`);
    if (TIMES[node.type]?.includes(key) && Number(value) > 0 && isTimed(node, key))
      yield changed('time', key, String(Number(value) / 10));
    if (TEXTS.includes(key)) yield changed('value', key, `${value}x`);
  }
  const { pin, pinType, chipid, chipidType, chipids, level, levelType } = node;
  if (pinType === 'num' && /^\d+$/.test(String(pin)))
    yield changed('pin', 'pin', String((Number(pin) + 1) % 16));
  if (node.type === 'device-cloud-gpio' && levelType === 'num')
    yield changed('value', 'level', anotherValue(level, 'num'));
  if (chipidType === 'str' && chipid !== '')
    yield changed('device', 'chipid', chipid === '10000004' ? '10000005' : '10000004');
  if (Array.isArray(chipids) && chipids.length > 0)
    for (const left of chipids as string[])
      yield changed(
        'device',
        'chipids',
        (chipids as string[]).filter((each) => each !== left),
      );
  const code = ['func', 'expression', ...(node['propertyType'] === 'jsonata' ? ['property'] : [])];
  for (const key of code)
    for (const { kind, text, code: broken } of changesOfCode(String(node[key] ?? '')))
      yield { kind, text, node: { ...node, [key]: broken } };
}

function* connections(
  node: FlowNode,
  nameOf: (id: string) => string,
  canFail: (id: string) => boolean,
): Iterable<Broken> {
  const wires = wiresOf(node);
  for (const [output, targets] of wires.entries())
    for (const target of targets)
      yield {
        kind: 'wire',
        text: `the wire from output ${output + 1} to "${nameOf(target)}" is cut`,
        node: {
          ...node,
          wires: replaceAt(
            wires,
            output,
            targets.filter((each) => each !== target),
          ),
        },
        others: [target],
      };
  const [first, second, ...more] = wires;
  if (first && second && String(first) !== String(second))
    yield {
      ...{ kind: 'outputs', text: 'the first two outputs are swapped' },
      node: { ...node, wires: [second, first, ...more] },
      others: [...first, ...second],
    };
  const { links, scope } = node;
  if (node.type === 'link out' && Array.isArray(links) && links.length > 0)
    yield {
      kind: 'wire',
      text: 'its link is cut',
      node: { ...node, links: [] },
      others: links as string[],
    };
  if (Array.isArray(scope))
    for (const id of (scope as string[]).filter(canFail))
      yield {
        ...{ kind: 'scope', text: `it leaves out "${nameOf(id)}"` },
        node: { ...node, scope: (scope as string[]).filter((each) => each !== id) },
        others: [id, ...wires.flat()],
      };
  // What a catch node sends tells that it is there; of others their wires do.
  if (['catch', 'status', 'complete'].includes(node.type))
    yield { kind: node.type, text: 'it is removed', node: undefined, others: wires.flat() };
  else if (wires.length > 0 && wires.flat().length > 0)
    yield {
      ...{ kind: 'disabled', text: 'it is disabled' },
      node: { ...node, d: true },
      others: wires.flat(),
    };
}

const { runs } = allow([]);

/** No test can see what is wrong inside a node that it disables, or that needs a cluster, which a test has not. */
const isSeen = (node: FlowNode): boolean =>
  runs(node.type) && !/^device-cloud-(work|ack)$/.test(node.type) && node['deliver'] !== 'queue';

const inside = (node: FlowNode): Broken[] => [...rulesOf(node), ...sent(node), ...properties(node)];

/** Every mutation of a flow that these kinds allow. */
export function mutationsOf(nodes: readonly FlowNode[]): Mutation[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const nameOf = (id: string): string => {
    const node = byId.get(id);
    return node ? named(node) : id;
  };
  const canFail = (id: string): boolean => {
    const node = byId.get(id);
    return node !== undefined && isSeen(node);
  };
  return nodes.filter(isBreakable).flatMap((node) =>
    [...(isSeen(node) ? inside(node) : []), ...connections(node, nameOf, canFail)].map(
      ({ kind, text, node: broken, others = [] }) => ({
        ...{ kind, text: `"${named(node)}": ${text}`, names: [named(node), ...others.map(nameOf)] },
        nodes: nodes.flatMap((each) => (each !== node ? [each] : broken ? [broken] : [])),
      }),
    ),
  );
}
