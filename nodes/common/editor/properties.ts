import { APP_TYPE, DEVICE, DEVICE_CALL, MAX_SECONDS, type DeviceCallConfig, type DeviceConfig } from '../shared.config'; // prettier-ignore
import { t } from './catalogue';
import { prepareExplain } from './explain';
import { opened } from './form';
import { deviceType, prepareDeviceRow } from './picker';
import type { EditorNode, EditorNodeBase, PropertyDefinition } from './red';
import { DYNAMIC, typedInput } from './typed';
import { chipNumber, orDefault, seconds, typedValidator, validator } from './validators';

/** The properties of every node. */
export interface Named {
  name: string;
}

/** The property `app`: the config node. */
export function appProperty(): { value: ''; type: string; required: true; label: string } {
  return { value: '', type: APP_TYPE, required: true, label: t('common.label.app') };
}

/**
 * Selects the only application for a new node, since there is nothing to choose from. Called by
 * Node-RED as `onadd`, when the node comes from the palette.
 */
export function selectOnlyApp(this: EditorNode<{ app: string }>): void {
  const apps: string[] = [];
  RED.nodes.eachConfig(({ id, type, z, d }) => {
    const reachable = z === undefined || z === '' || z === this.z;
    if (type === APP_TYPE && reachable && d !== true) apps.push(id);
  });
  const [only, ...others] = apps;
  if (only !== undefined && others.length === 0) this.app = only;
}

/** The property `chipid`. `needed`: whether the node calls one device. */
export function chipidProperty<T extends DeviceConfig>(
  needed?: (node: EditorNode<T>) => boolean,
): PropertyDefinition<T, string> {
  return {
    value: DEVICE.chipid,
    label: t('common.label.device'),
    validate: typedValidator<T>('chipidType', { str: chipNumber }, needed),
  };
}

/** The property `timeout` of a node that waits for the answer of a device. */
export const timeoutProperty = <T extends DeviceCallConfig>(): PropertyDefinition<
  T,
  number | string
> => ({
  value: DEVICE_CALL.timeout,
  label: t('common.label.timeout'),
  validate: validator(orDefault(seconds(0.001, MAX_SECONDS))),
});

/** Makes the application's and the device's row work. Comes first in `oneditprepare`. */
export function prepareDevice(node: EditorNodeBase): void {
  opened(node);
  typedInput('chipid', ['msg', deviceType(), ...DYNAMIC]);
  prepareDeviceRow();
  prepareExplain(node);
}

/** The chip number of a node that always calls the same device. */
export function fixedDevice(node: Partial<DeviceConfig>): string {
  return node.chipidType === 'str' ? (node.chipid ?? '') : '';
}

/** A node's label: its name, else what it does and, if that is fixed, to which device. */
export function labelOf(name: string | undefined, text: string, device = ''): string {
  if (name) return name;
  return device === '' ? text : `${text} · ${device}`;
}

/** Node-RED shows a name in italics, and a node's own label upright. */
export function labelStyle(this: { name?: string }): string {
  return this.name ? 'node_label_italic' : '';
}
