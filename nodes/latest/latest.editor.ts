import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type LatestConfig } from './latest.config';

type Config = LatestConfig & rows.Named;
type Node = EditorNode<Config>;

/** The choice between one device and all is not saved: an empty `chipid` means all. */
const which = (): JQuery => $('#device-cloud-which');

/** A flow written by hand may leave the property out: that is not empty, and means the default. */
const isAll = (node: Node): boolean =>
  rows.isOpen(node, which()) ? rows.fieldValue(which()) === 'all' : node.chipid === '';

RED.nodes.registerType<Config>('device-cloud-latest', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-latest.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    deviceType: rows.typeOfDevices(),
    chipid: devices.chipids<Config>((node) => !isAll(node)),
    chipidType: devices.chipidType,
    datatype: rows.datatype(),
    missing: rows.choice(
      DEFAULTS.missing,
      'label.missing',
      CHOICES.missing,
      (node: Node) => !isAll(node),
    ),
  },
  label: function () {
    const shown = this.chipid === '' ? t('common.devices.all') : devices.fixedDevice(this);
    return rows.labelOf(this.name, t('paletteLabel'), shown);
  },
  oneditprepare: function () {
    // First: whether the device is valid depends on it.
    which().val(this.chipid === '' ? 'all' : 'one');
    rows.opened(this);
    // The device is needed now, or not any more.
    which().on('change', () => rows.field('chipid').trigger('change'));
  },
  oneditsave: function () {
    if (rows.fieldValue(which()) === 'all') rows.field('chipid').val('');
  },
});
