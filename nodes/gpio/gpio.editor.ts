import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import {
  completedType,
  json,
  namedNumbers,
  numberType,
  revalidate,
  textType,
  typed,
} from '../common/editor/typed-input';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { readPins } from '../type/type.config';
import { CHOICES, DEFAULTS, LIMITS, NEW_PIN, type GpioConfig } from './gpio.config';

type Config = GpioConfig & rows.Named;
type Node = EditorNode<Config>;

const does = (operation: Config['operation']) => (node: Node) =>
  rows.current(node, 'operation') === operation;
const keeps = does('keep');
const sets = (node: Node): boolean => !does('read')(node);
/** Whether the command may wait for its device: a wish does so by itself. */
const waits = (node: Node): boolean => sets(node) && !keeps(node);
/** The choice between one pin and all is not saved: an empty `pin` means all. */
const pins = (): JQuery => $('#device-cloud-pins');

const readsAll = (node: Node): boolean =>
  !sets(node) && (rows.isOpen(node, pins()) ? rows.fieldValue(pins()) === 'all' : node.pin === '');

const pinNumber = rows.numberIn({ min: 0, max: 999_999_999, isWhole: true });

const pinName = () =>
  completedType(textType(t('type.pin'), 'fa fa-map-pin', rows.notBlank), 'pins', (text) => {
    const read = readPins(text);
    return 'pins' in read ? read.pins.keys() : [];
  });

const levels = () => [
  'msg',
  namedNumbers(t('type.level'), { 1: `${t('level.high')} (1)`, 0: `${t('level.low')} (0)` }),
];

/** What the node does, for its label. @param isShort whether the device needs its room */
function labelText(node: Node, isShort: boolean): string {
  const isFixed = node.pinType === 'num' || node.pinType === 'str';
  const pin = isFixed ? ` ${node.pin}` : '';
  if (node.operation === 'read') return node.pin === '' ? t('node.read-all') : t('node.read') + pin;
  const level = node.levelType === 'num' ? t(node.level === '0' ? 'level.low' : 'level.high') : '';
  const verb = node.operation === 'pulse' || node.operation === 'keep' ? node.operation : 'set';
  // That it is set goes without saying where there is a pin.
  const isSet = verb === 'set' && pin !== '';
  const what = isSet ? t('node.set-pin', { pin: node.pin }) : t(`node.${verb}`) + pin;
  return level === '' || (isShort && verb !== 'set') ? what : `${what} ${level}`;
}

RED.nodes.registerType<Config>('device-cloud-gpio', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-gpio.svg',
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
    when: devices.when<Config>(waits),
    expires: devices.expires<Config>(waits),
    replace: devices.replace<Config>(waits),
    operation: rows.choice(DEFAULTS.operation, 'common.label.operation', CHOICES.operation),
    pin: {
      ...typed<Config>(
        NEW_PIN.pin,
        'label.pin',
        'pinType',
        () => ['msg', numberType(pinNumber), pinName()],
        (node) => !readsAll(node),
      ),
      missing: DEFAULTS.pin,
    },
    pinType: { value: NEW_PIN.pinType, missing: DEFAULTS.pinType },
    level: {
      ...typed<Config>(NEW_PIN.level, 'label.level', 'levelType', levels, sets),
      missing: DEFAULTS.level,
    },
    levelType: { value: NEW_PIN.levelType, missing: DEFAULTS.levelType },
    duration: rows.limited(DEFAULTS.duration, 'label.duration', LIMITS.duration, does('pulse')),
    check: rows.limited(DEFAULTS.check, 'label.check', LIMITS.check, keeps),
    codes: json(
      'codes',
      rows.described(
        'codes',
        rows.checked<Config>(DEFAULTS.codes, 'label.codes', rows.jsonObject, (node) => !sets(node)),
      ),
    ),
    timeout: rows.timeout(),
  },
  label: function () {
    const device = devices.fixedDevice(this);
    return rows.labelOf(this.name, labelText(this, device !== ''), device);
  },
  oneditprepare: function () {
    // First: whether the pin is shown depends on it.
    pins().val(this.pin === '' ? 'all' : 'one');
    rows.opened(this);
    // The pin is needed now, or not any more.
    pins().on('change', () => revalidate('pin'));
    rows.onChange(['operation', 'level'], () => {
      rows.show('#keep-note', keeps(this));
      rows.show('#level-note', rows.fieldValue(rows.field('levelType')) !== 'num');
      rows.show('#pins-row', !sets(this));
    });
  },
  oneditsave: function () {
    if (readsAll(this)) rows.field('pin').val('');
  },
});
