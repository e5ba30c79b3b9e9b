import { t } from '../common/editor/texts';
import {
  appProperty,
  atOnceProperty,
  categoryDescription,
  chipidProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  limitProperty,
  manyProperty,
  type Named,
  prepareDevice,
  prepareMany,
  selectOnlyApp,
  timeoutProperty,
} from '../common/editor/properties';
import { field, onChange, show } from '../common/editor/form';
import { oneOf, orDefault, validator } from '../common/editor/fields';
import { DEFAULTS, type RefreshConfig } from './refresh.config';

type Config = RefreshConfig & Named;

RED.nodes.registerType<Config>('device-cloud-refresh', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-refresh.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty(),
    chipidType: { value: DEFAULTS.chipidType },
    many: manyProperty(),
    limit: limitProperty<Config>(),
    atOnce: atOnceProperty<Config>(),
    offline: {
      value: DEFAULTS.offline,
      label: t('label.offline'),
      validate: validator(orDefault(oneOf('error', 'answer'))),
    },
    timeout: timeoutProperty(),
  },
  label: function () {
    return labelOf(this.name, t('node.refresh'), fixedDevice(this));
  },
  oneditprepare: function () {
    prepareDevice(this);
    prepareMany();
    onChange(['many'], () => show('#online-row', !field('many').is(':checked')));
  },
});
