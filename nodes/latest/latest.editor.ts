import { choice } from '../common/editor/fields';
import { field, fieldValue, isOpen, opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type LatestConfig } from './latest.config';

type Config = LatestConfig & shared.Named;
type Node = EditorNode<Config>;

/** The choice between one device and all is not saved: an empty `chipid` means all. */
const which = (): JQuery => $('#device-cloud-which');

/** A flow written by hand may leave the property out: that is not empty, and means the default. */
const isAll = (node: Node): boolean =>
  isOpen(node, which()) ? fieldValue(which()) === 'all' : node.chipid === '';

RED.nodes.registerType<Config>('device-cloud-latest', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-latest.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    chipid: shared.chipids<Config>((node) => !isAll(node)),
    chipidType: shared.chipidType,
    datatype: shared.datatype(),
    missing: choice(
      DEFAULTS.missing,
      'label.missing',
      CHOICES.missing,
      (node: Node) => !isAll(node),
    ),
  },
  label: function () {
    const devices = this.chipid === '' ? t('common.devices.all') : shared.fixedDevice(this);
    return shared.labelOf(this.name, t('paletteLabel'), devices);
  },
  oneditprepare: function () {
    // First: whether the device is valid depends on it.
    which().val(this.chipid === '' ? 'all' : 'one');
    opened(this);
    // The device is needed now, or not any more.
    which().on('change', () => field('chipid').trigger('change'));
  },
  oneditsave: function () {
    if (fieldValue(which()) === 'all') field('chipid').val('');
  },
});
