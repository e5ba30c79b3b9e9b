import * as rows from '../common/editor/rows';
import { said, t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type DevicesConfig } from './devices.config';

RED.nodes.registerType<DevicesConfig & rows.Named>('device-cloud-devices', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-devices.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    operation: rows.choice(DEFAULTS.operation, 'common.label.operation', CHOICES.operation),
  },
  label: function () {
    const does = t(`node.${this.operation ?? 'list'}`);
    return rows.labelOf(this.name, said(t('paletteLabel'), does));
  },
  oneditprepare: rows.oneditprepare,
});
