import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import { t } from '../common/editor/texts';
import type { RebootConfig } from './reboot.config';

type Config = RebootConfig & rows.Named;

RED.nodes.registerType<Config>('device-cloud-reboot', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-reboot.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    chipid: devices.chipids<Config>(),
    chipidType: devices.chipidType,
    many: devices.many,
    atOnce: devices.atOnce<Config>(),
    when: devices.when<Config>(),
    expires: devices.expires<Config>(),
    replace: devices.replace<Config>(),
    timeout: rows.timeout(),
  },
  label: function () {
    return rows.labelOf(this.name, t('paletteLabel'), devices.fixedDevice(this));
  },
  oneditprepare: rows.oneditprepare,
});
