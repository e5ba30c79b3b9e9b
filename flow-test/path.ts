import { nodesNamed, type FlowNode } from './flows';
import type { Traffic } from './protocol';
import type { Sight } from './tests';

const NAMES = 12;

/** Nodes by which a flow reaches devices. */
const REACHES_DEVICES = /^device-cloud-(gpio|push|request|reboot|server)$/;

export function nameOf(nodes: readonly FlowNode[], id: string): string {
  const node = nodes.find((each) => each.id === id);
  return node?.name || node?.type || id;
}

/** From each node those that take its messages, over wires, links, and errors that are caught. */
function successors(nodes: readonly FlowNode[]): Map<string, string[]> {
  const ids = (list: unknown): string[] => (Array.isArray(list) ? list.flat().map(String) : []);
  const after = new Map(
    nodes.map(({ id, wires, type, links }) => [
      id,
      [...ids(wires), ...(type === 'link out' || type === 'link call' ? ids(links) : [])],
    ]),
  );
  for (const { id, scope } of nodes) for (const from of ids(scope)) after.get(from)?.push(id);
  return after;
}

/** The nodes on the way to the wanted one, the nearest first. */
function wayTo(
  nodes: readonly FlowNode[],
  sights: readonly Sight[],
  after: ReadonlyMap<string, readonly string[]>,
): string[] {
  const ends = sights.flatMap((sight) =>
    'at' in sight
      ? nodesNamed(nodes, sight.at)
      : nodes.filter(({ type }) => REACHES_DEVICES.test(type)),
  );
  const way = new Set(ends.map(({ id }) => id));
  // The set grows while it is walked.
  for (const id of way) for (const [before, next] of after) if (next.includes(id)) way.add(before);
  return [...way];
}

/** How far messages came on their way to what a test has not seen. */
export function pathLines(
  all: readonly FlowNode[],
  sights: readonly Sight[],
  traffic: Traffic,
): string[] {
  const nodes = all.filter(({ d, type }) => d !== true && type !== 'comment');
  const after = successors(nodes);
  const way = wayTo(nodes, sights, after).reverse();
  const onWay = (id: string): readonly string[] =>
    (after.get(id) ?? []).filter((next) => way.includes(next));
  const list = (ids: readonly string[]): string => {
    const shown = ids.slice(0, NAMES).map((id) => {
      const [received, sent] = traffic[id] ?? [0, 0];
      const numbers = [received > 0 && `${received} in`, sent > 0 && `${sent} out`];
      const text = numbers.filter(Boolean).join(', ');
      return `"${nameOf(nodes, id)}"${text ? ` (${text})` : ''}`;
    });
    return [...shown, ...(ids.length > NAMES ? [`and ${ids.length - NAMES} more`] : [])].join(', ');
  };
  const reached = way.filter((id) => traffic[id]);
  const first = way.filter((id) => !traffic[id] && !way.some((each) => onWay(each).includes(id)));
  const stops = reached.flatMap((id) => {
    const missed = onWay(id).filter((next) => !traffic[next]);
    return missed.length > 0 ? [`no message went from ${list([id])} to ${list(missed)}`] : [];
  });
  return [
    ...(first.length > 0 ? [`no message began at ${list(first)}`] : []),
    ...stops.slice(0, NAMES),
    ...(reached.length > 0 ? [`messages went by ${list(reached)}`] : []),
  ];
}
