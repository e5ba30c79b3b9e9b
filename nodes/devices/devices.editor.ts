import { choice } from '../common/editor/fields';
import { opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { said, t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type DevicesConfig } from './devices.config';

RED.nodes.registerType<DevicesConfig & shared.Named>('device-cloud-devices', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-devices.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    operation: choice(DEFAULTS.operation, 'common.label.operation', CHOICES.operation),
  },
  label: function () {
    const does = t(`operation.${this.operation ?? 'list'}`);
    return shared.labelOf(this.name, said(t('paletteLabel'), does));
  },
  oneditprepare: function () {
    opened(this);
  },
});
