import * as rows from '../common/editor/rows';
import { t } from '../common/editor/texts';
import type { AckConfig } from './ack.config';

RED.nodes.registerType<AckConfig & rows.Named>('device-cloud-ack', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-ack.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
  },
  label: function () {
    return rows.labelOf(this.name, t('paletteLabel'));
  },
  oneditprepare: rows.oneditprepare,
});
