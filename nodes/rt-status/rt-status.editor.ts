import { t } from '../common/editor/catalogue';
import { manyProperty, limitProperty, atOnceProperty, prepareMany } from '../common/editor/command';
import { appProperty, chipidProperty, fixedDevice, labelOf, labelStyle, prepareDevice, selectOnlyApp, timeoutProperty } from '../common/editor/properties'; // prettier-ignore
import type { Named } from '../common/editor/properties';
import { DYNAMIC, stringType, typedInput } from '../common/editor/typed';
import { notBlank, oneOf, orDefault, typedValidator, validator } from '../common/editor/validators'; // prettier-ignore
import type { RT_STATUS_TYPE, RtStatusConfig } from './rt-status.config';

type Config = RtStatusConfig & Named;

RED.nodes.registerType<Config>('device-cloud-rt-status' satisfies typeof RT_STATUS_TYPE, {
  category: 'device cloud',
  categoryDescription: `${CATALOGUE}:palette.description`,
  color: '#a58bf0',
  icon: 'device-cloud-rt-status.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty(),
    chipidType: { value: 'msg' },
    many: manyProperty(),
    limit: limitProperty<Config>(),
    atOnce: atOnceProperty<Config>(),
    key: {
      value: 'key',
      label: t('label.key'),
      validate: typedValidator('keyType', { str: notBlank }),
    },
    keyType: { value: 'msg' },
    datatype: {
      value: 'auto-detect',
      label: t('common.label.datatype'),
      validate: validator(orDefault(oneOf('auto-detect', 'utf8', 'json'))),
    },
    timeout: timeoutProperty(),
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    const text = this.keyType === 'str' ? t('node.key', { key: this.key }) : t('node.any');
    return labelOf(this.name, text, fixedDevice(this));
  },
  labelStyle,
  outputLabels: t('output'),
  onadd: selectOnlyApp,
  oneditprepare: function () {
    prepareDevice(this);
    prepareMany();
    typedInput('key', ['msg', stringType(notBlank), ...DYNAMIC]);
  },
});
