import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type RefreshConfig } from './refresh.config';

type Config = RefreshConfig & rows.Named;

RED.nodes.registerType<Config>('device-cloud-refresh', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-refresh.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    chipid: devices.chipids<Config>(),
    chipidType: devices.chipidType,
    many: devices.many,
    atOnce: devices.atOnce<Config>(),
    offline: rows.choice(DEFAULTS.offline, 'label.offline', CHOICES.offline),
    timeout: rows.timeout(),
  },
  label: function () {
    return rows.labelOf(this.name, t('paletteLabel'), devices.fixedDevice(this));
  },
  oneditprepare: function () {
    rows.opened(this);
    rows.onChange(['many'], () => rows.show('#online-row', !rows.field('many').is(':checked')));
  },
});
