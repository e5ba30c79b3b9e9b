import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import { completedType, stringType, typed } from '../common/editor/typed-input';
import { t } from '../common/editor/texts';
import { readCallbacks } from '../type/type.config';
import { CHOICES, DEFAULTS, type RtStatusConfig } from './rt-status.config';

type Config = RtStatusConfig & rows.Named;

RED.nodes.registerType<Config>('device-cloud-rt-status', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-rt-status.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    deviceType: rows.typeOfDevices(),
    chipid: devices.chipids<Config>(),
    chipidType: devices.chipidType,
    many: devices.many,
    atOnce: devices.atOnce<Config>(),
    key: typed<Config>(DEFAULTS.key, 'label.key', 'keyType', () => [
      'msg',
      completedType(stringType(rows.notBlank), 'callbacks', readCallbacks),
    ]),
    keyType: { value: DEFAULTS.keyType },
    datatype: rows.choice(DEFAULTS.datatype, 'common.label.datatype', CHOICES.datatype),
    timeout: rows.timeout(),
  },
  label: function () {
    const text = this.keyType === 'str' ? t('node.key', { key: this.key }) : t('paletteLabel');
    return rows.labelOf(this.name, text, devices.fixedDevice(this));
  },
  oneditprepare: rows.oneditprepare,
});
