import { t } from '../common/editor/texts';
import { prepareExplain } from '../common/editor/explain';
import { opened } from '../common/editor/form';
import {
  appProperty,
  categoryDescription,
  labelOf,
  labelStyle,
  type Named,
  selectOnlyApp,
} from '../common/editor/properties';
import { oneOf, orDefault, validator } from '../common/editor/fields';
import { DEFAULTS, type DevicesConfig } from './devices.config';

RED.nodes.registerType<DevicesConfig & Named>('device-cloud-devices', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-devices.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    operation: {
      value: DEFAULTS.operation,
      label: t('common.label.operation'),
      validate: validator(orDefault(oneOf('list', 'app'))),
    },
  },
  label: function () {
    return labelOf(this.name, t(this.operation === 'app' ? 'node.app' : 'node.list'));
  },
  oneditprepare: function () {
    opened(this);
    prepareExplain(this);
  },
});
