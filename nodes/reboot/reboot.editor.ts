import { t } from '../common/editor/catalogue';
import { manyProperty, limitProperty, atOnceProperty, prepareMany, prepareWhen, saveWhen, whenProperty, expiresProperty } from '../common/editor/command'; // prettier-ignore
import { appProperty, chipidProperty, fixedDevice, labelOf, labelStyle, prepareDevice, selectOnlyApp, timeoutProperty } from '../common/editor/properties'; // prettier-ignore
import type { Named } from '../common/editor/properties';
import { DEFAULTS, type RebootConfig } from './reboot.config';

type Config = RebootConfig & Named;

RED.nodes.registerType<Config>('device-cloud-reboot', {
  category: 'device cloud',
  categoryDescription: `${CATALOGUE}:palette.description`,
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
  paletteLabel: t('paletteLabel'),
  label: function () {
    return labelOf(this.name, t('node.reboot'), fixedDevice(this));
  },
  labelStyle,
  outputLabels: t('output'),
  onadd: selectOnlyApp,
  oneditprepare: function () {
    prepareDevice(this);
    prepareMany();
    prepareWhen();
  },
  oneditsave: () => saveWhen(),
});
