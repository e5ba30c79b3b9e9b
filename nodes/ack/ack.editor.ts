import { t } from '../common/editor/texts';
import { opened } from '../common/editor/form';
import {
  appProperty,
  categoryDescription,
  labelOf,
  labelStyle,
  type Named,
  selectOnlyApp,
} from '../common/editor/properties';
import type { AckConfig } from './ack.config';

type Config = AckConfig & Named;

RED.nodes.registerType<Config>('device-cloud-ack', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-ack.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
  },
  label: function () {
    return labelOf(this.name, t('node.ack'));
  },
  oneditprepare: function () {
    opened(this);
  },
});
