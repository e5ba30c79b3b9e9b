import { t } from '../common/editor/texts';
import { opened } from '../common/editor/form';
import { appProperty, labelOf, labelStyle, selectOnlyApp, type Named } from '../common/editor/properties'; // prettier-ignore
import type { AckConfig } from './ack.config';

type Config = AckConfig & Named;

RED.nodes.registerType<Config>('device-cloud-ack', {
  category: 'device cloud',
  categoryDescription: `${CATALOGUE}:palette.description`,
  color: '#a58bf0',
  icon: 'device-cloud-ack.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    return labelOf(this.name, t('node.ack'));
  },
  labelStyle,
  outputLabels: t('output'),
  onadd: selectOnlyApp,
  oneditprepare: function () {
    opened(this);
  },
});
