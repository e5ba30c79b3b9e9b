import { t } from '../common/editor/texts';
import {
  appProperty,
  atOnceProperty,
  categoryDescription,
  chipidProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  limitProperty,
  manyProperty,
  type Named,
  prepareDevice,
  prepareMany,
  selectOnlyApp,
  timeoutProperty,
} from '../common/editor/properties';
import {
  DYNAMIC,
  notBlank,
  oneOf,
  orDefault,
  stringType,
  typedInput,
  typedValidator,
  validator,
} from '../common/editor/fields';
import { DEFAULTS, type RtStatusConfig } from './rt-status.config';

type Config = RtStatusConfig & Named;

RED.nodes.registerType<Config>('device-cloud-rt-status', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-rt-status.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty(),
    chipidType: { value: DEFAULTS.chipidType },
    many: manyProperty(),
    limit: limitProperty<Config>(),
    atOnce: atOnceProperty<Config>(),
    key: {
      value: DEFAULTS.key,
      label: t('label.key'),
      validate: typedValidator('keyType', { str: notBlank }),
    },
    keyType: { value: DEFAULTS.keyType },
    datatype: {
      value: DEFAULTS.datatype,
      label: t('common.label.datatype'),
      validate: validator(orDefault(oneOf('auto-detect', 'utf8', 'json'))),
    },
    timeout: timeoutProperty(),
  },
  label: function () {
    const text = this.keyType === 'str' ? t('node.key', { key: this.key }) : t('node.any');
    return labelOf(this.name, text, fixedDevice(this));
  },
  oneditprepare: function () {
    prepareDevice(this);
    prepareMany();
    typedInput('key', ['msg', stringType(notBlank), ...DYNAMIC]);
  },
});
