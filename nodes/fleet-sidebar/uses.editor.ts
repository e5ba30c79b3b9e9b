import type { EditorNodeBase } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { LISTEN_TYPE } from '../listen/listen.config';
import type { Target } from './commands.editor';

type Properties = EditorNodeBase & Record<string, unknown>;

/** Why a node is shown: it has the number, or is for all devices, for those online, for those that messages name. */
type Use = 'number' | 'all' | 'online' | 'dynamic';

/** The nodes that are for more than the devices that they name. */
const WIDE: Readonly<Record<string, (node: Properties) => Use | undefined>> = {
  [LISTEN_TYPE]: ({ devices }) =>
    devices === 'online' || devices === 'dynamic' ? devices : undefined,
  'device-cloud-events': ({ devices }) => (devices === 'all' ? 'all' : undefined),
  'device-cloud-latest': ({ chipid, chipidType }) =>
    chipidType !== 'msg' && chipid === '' ? 'all' : undefined,
  'device-cloud-push': ({ target }) => (target === 'app' ? 'all' : undefined),
};

/** Properties of every node in the editor that are not its own settings. */
const PLACE = ['id', 'z', 'g', 'wires', 'x', 'y', 'w', 'h'];

function has(value: unknown, number: RegExp, depth = 0): boolean {
  if (typeof value === 'string') return number.test(value);
  if (typeof value === 'number') return number.test(String(value));
  if (typeof value !== 'object' || value === null || depth > 4) return false;
  return Object.values(value).some((inner) => has(inner, number, depth + 1));
}

/** How a node uses a device, as far as its settings say; undefined if they do not. */
function useOf(node: Properties, app: string, number: RegExp): Use | undefined {
  const isOurs = node.type.startsWith('device-cloud-');
  // The same number of another application is another device.
  if (isOurs && 'app' in node && node['app'] !== app) return undefined;
  const wide = WIDE[node.type]?.(node);
  if (wide) return wide;
  // It tells of a device, and does nothing with it.
  if (node.type === 'comment') return undefined;
  // A type whose package is not installed has none.
  const definition = RED.nodes.getType(node.type) as { defaults?: object } | undefined;
  const names = Object.keys(definition?.defaults ?? {});
  const own = names.filter((name) => !PLACE.includes(name));
  return own.some((name) => has(node[name], number)) ? 'number' : undefined;
}

function useButton(node: Properties, use: Use): JQuery {
  const flow = RED.nodes.workspace(node.z ?? '') ?? RED.nodes.subflow(node.z ?? '');
  const about = [t(`use.${use}`), flow?.label ?? flow?.name ?? ''].filter(Boolean);
  return $('<button>', { type: 'button', class: 'device-cloud-fleet-use' })
    .append(
      $('<span>').text(RED.utils.getNodeLabel(node, node.type)),
      $('<small>').text(about.join(' · ')),
    )
    .on('click', () => RED.view.reveal(node.id));
}

/** The nodes that use a device: its own first, then those for all or for online devices. */
export function usesOf(target: Target): JQuery {
  const number = new RegExp(`(?<!\\d)${target.chipid}(?!\\d)`);
  const found: [Properties, Use][] = [];
  RED.nodes.eachNode((node) => {
    const use = useOf(node as Properties, target.inFlows ?? target.app, number);
    if (use) found.push([node as Properties, use]);
  });
  found.sort(([, a], [, b]) => Number(b === 'number') - Number(a === 'number'));
  const list = $('<ul>').append(found.map(([node, use]) => $('<li>').append(useButton(node, use))));
  const note = $('<p>').text(t(found.length > 0 ? 'use.note' : 'use.none'));
  return $('<section>', { class: 'device-cloud-fleet-uses', role: 'status' }).append(
    $('<h5>').text(t('use.title')),
    list,
    note,
  );
}
