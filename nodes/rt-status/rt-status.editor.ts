import { choice, completedType, notBlank, stringType, typed } from '../common/editor/fields';
import { opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { t } from '../common/editor/texts';
import { readCallbacks } from '../type/type.config';
import { CHOICES, DEFAULTS, type RtStatusConfig } from './rt-status.config';

type Config = RtStatusConfig & shared.Named;

RED.nodes.registerType<Config>('device-cloud-rt-status', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-rt-status.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    chipid: shared.chipids<Config>(),
    chipidType: shared.chipidType,
    many: shared.many,
    atOnce: shared.atOnce<Config>(),
    key: typed<Config>(DEFAULTS.key, 'label.key', 'keyType', () => [
      'msg',
      completedType(stringType(notBlank), 'callbacks', readCallbacks),
    ]),
    keyType: { value: DEFAULTS.keyType },
    datatype: choice(DEFAULTS.datatype, 'common.label.datatype', CHOICES.datatype),
    timeout: shared.timeout(),
  },
  label: function () {
    const text = this.keyType === 'str' ? t('node.key', { key: this.key }) : t('paletteLabel');
    return shared.labelOf(this.name, text, shared.fixedDevice(this));
  },
  oneditprepare: function () {
    opened(this);
  },
});
