import { t } from '../common/editor/texts';
import {
  appProperty,
  atOnceProperty,
  categoryDescription,
  chipidProperty,
  expiresProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  limitProperty,
  manyProperty,
  type Named,
  prepareDevice,
  prepareMany,
  prepareWhen,
  saveWhen,
  selectOnlyApp,
  timeoutProperty,
  whenProperty,
} from '../common/editor/properties';
import { DEFAULTS, type RebootConfig } from './reboot.config';

type Config = RebootConfig & Named;

RED.nodes.registerType<Config>('device-cloud-reboot', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-reboot.svg',
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
    when: whenProperty<Config>(),
    expires: expiresProperty<Config>(),
    timeout: timeoutProperty(),
  },
  label: function () {
    return labelOf(this.name, t('node.reboot'), fixedDevice(this));
  },
  oneditprepare: function () {
    prepareDevice(this);
    prepareMany();
    prepareWhen();
  },
  oneditsave: () => saveWhen(),
});
