import { t } from '../common/editor/texts';
import {
  appProperty,
  atOnceProperty,
  categoryDescription,
  chipidProperty,
  expiresProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  limitProperty,
  manyProperty,
  type Named,
  prepareDevice,
  prepareMany,
  prepareWhen,
  saveWhen,
  selectOnlyApp,
  timeoutProperty,
  whenProperty,
} from '../common/editor/properties';
import { current, field, fieldValue, onChange, show } from '../common/editor/form';
import type { EditorNode } from '../common/editor/red';
import {
  DYNAMIC,
  fixedInput,
  namedNumbers,
  numberType,
  oneOf,
  orDefault,
  typedInput,
  typedValidator,
  validator,
  wholeNumber,
} from '../common/editor/fields';
import { parseJsonObject } from '../common/shared.config';
import { DEFAULTS, MAX_DURATION, type GpioConfig } from './gpio.config';

type Config = GpioConfig & Named;
type Node = EditorNode<Config>;

const sets = (node: Node): boolean => current(node, 'operation') !== 'read';
const pulses = (node: Node): boolean => current(node, 'operation') === 'pulse';
const readsAll = (node: Node): boolean => !sets(node) && current(node, 'pin') === '';

const pinNumber = wholeNumber(0, 999_999_999);

/** The choice between one pin and all is not saved: an empty `pin` means all. */
const pins = (): JQuery => $('#device-cloud-pins');

function codesError(value: string): string | undefined {
  return parseJsonObject(value) ? undefined : t('error.codes');
}

/** What the node does, as the key and the values of its label. */
function labelText(node: Node): string {
  const pin = node.pinType === 'num' ? node.pin : undefined;
  if (node.operation === 'read') {
    if (node.pin === '') return t('node.read-all');
    return pin === undefined ? t('node.read') : t('node.read-pin', { pin });
  }
  const level = node.levelType === 'num' ? t(node.level === '0' ? 'level.low' : 'level.high') : '';
  const verb = node.operation === 'pulse' ? 'pulse' : 'set';
  const what = pin === undefined ? t(`node.${verb}`) : t(`node.${verb}-pin`, { pin });
  return level === '' ? what : `${what} ${level}`;
}

RED.nodes.registerType<Config>('device-cloud-gpio', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-gpio.svg',
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
    when: whenProperty<Config>(sets),
    expires: expiresProperty<Config>(sets),
    operation: {
      value: DEFAULTS.operation,
      label: t('common.label.operation'),
      validate: validator(orDefault(oneOf('set', 'read', 'pulse'))),
    },
    pin: {
      value: DEFAULTS.pin,
      label: t('label.pin'),
      validate: typedValidator<Config>('pinType', { num: pinNumber }, (node) => !readsAll(node)),
    },
    pinType: { value: DEFAULTS.pinType },
    level: {
      value: DEFAULTS.level,
      label: t('label.level'),
      validate: typedValidator<Config>('levelType', {}, sets),
    },
    levelType: { value: DEFAULTS.levelType },
    duration: {
      value: DEFAULTS.duration,
      label: t('label.duration'),
      validate: validator<Config>(orDefault(wholeNumber(1, MAX_DURATION)), pulses),
    },
    codes: {
      value: DEFAULTS.codes,
      label: t('label.codes'),
      validate: validator<Config>(orDefault(codesError), (node) => !sets(node)),
    },
    timeout: timeoutProperty(),
  },
  label: function () {
    return labelOf(this.name, labelText(this), fixedDevice(this));
  },
  oneditprepare: function () {
    prepareDevice(this);
    pins().val(readsAll(this) ? 'all' : 'one');
    const levels = { 1: t('level.high-choice'), 0: t('level.low-choice') };
    typedInput('pin', ['msg', numberType(pinNumber), ...DYNAMIC]);
    typedInput('level', ['msg', namedNumbers(t('type.level'), levels), ...DYNAMIC]);
    fixedInput('codes', 'json');
    prepareMany();
    const adaptWhen = prepareWhen(() => sets(this));
    const adapt = (): void => {
      adaptWhen();
      show('#duration-row', pulses(this));
      show('#level-row', sets(this));
      show('#level-note', fieldValue(field('levelType')) !== 'num');
      show('#pins-row, #codes-row', !sets(this));
      show('#pin-row', sets(this) || pins().val() === 'one');
    };
    onChange(['operation', 'level'], adapt);
    pins().on('change', adapt);
  },
  oneditsave: function () {
    if (!sets(this) && fieldValue(pins()) === 'all') field('pin').val('');
    saveWhen(() => sets(this));
  },
});
