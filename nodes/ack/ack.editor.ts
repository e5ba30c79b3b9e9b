import { opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { t } from '../common/editor/texts';
import type { AckConfig } from './ack.config';

RED.nodes.registerType<AckConfig & shared.Named>('device-cloud-ack', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-ack.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
  },
  label: function () {
    return shared.labelOf(this.name, t('paletteLabel'));
  },
  oneditprepare: function () {
    opened(this);
  },
});
