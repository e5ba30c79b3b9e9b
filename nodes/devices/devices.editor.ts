import { choice } from '../common/editor/fields';
import { opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type DevicesConfig } from './devices.config';

RED.nodes.registerType<DevicesConfig & shared.Named>('device-cloud-devices', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
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
    return shared.labelOf(this.name, t(this.operation === 'app' ? 'node.app' : 'node.list'));
  },
  oneditprepare: function () {
    opened(this);
  },
});
