import { choice } from '../common/editor/fields';
import { field, onChange, opened, show } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type RefreshConfig } from './refresh.config';

type Config = RefreshConfig & shared.Named;

RED.nodes.registerType<Config>('device-cloud-refresh', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-refresh.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    chipid: shared.chipids<Config>(),
    chipidType: shared.chipidType,
    many: shared.many,
    atOnce: shared.atOnce<Config>(),
    offline: choice(DEFAULTS.offline, 'label.offline', CHOICES.offline),
    timeout: shared.timeout(),
  },
  label: function () {
    return shared.labelOf(this.name, t('paletteLabel'), shared.fixedDevice(this));
  },
  oneditprepare: function () {
    opened(this);
    onChange(['many'], () => show('#online-row', !field('many').is(':checked')));
  },
});
