import { opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { t } from '../common/editor/texts';
import type { RebootConfig } from './reboot.config';

type Config = RebootConfig & shared.Named;

RED.nodes.registerType<Config>('device-cloud-reboot', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-reboot.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    chipid: shared.chipids<Config>(),
    chipidType: shared.chipidType,
    many: shared.many,
    atOnce: shared.atOnce<Config>(),
    when: shared.when<Config>(),
    expires: shared.expires<Config>(),
    replace: shared.replace<Config>(),
    timeout: shared.timeout(),
  },
  label: function () {
    return shared.labelOf(this.name, t('paletteLabel'), shared.fixedDevice(this));
  },
  oneditprepare: function () {
    opened(this);
  },
});
