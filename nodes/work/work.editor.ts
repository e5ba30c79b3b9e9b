import { t } from '../common/editor/texts';
import {
  current,
  field,
  fieldValue,
  isClustered,
  onChange,
  opened,
  show,
} from '../common/editor/form';
import {
  appProperty,
  categoryDescription,
  labelOf,
  labelStyle,
  type Named,
  selectOnlyApp,
} from '../common/editor/properties';
import type { EditorNode, PropertyDefinition } from '../common/editor/red';
import { oneOf, orDefault, seconds, validator, wholeNumber } from '../common/editor/fields';
import { DEFAULTS, LIMITS, type WorkConfig } from './work.config';

type Config = WorkConfig & Named;

const waitsForAck = (node: EditorNode<Config>): boolean => current(node, 'acknowledge') === 'ack';

const isChosen = (): boolean => !['', '_ADD_'].includes(fieldValue(field('app')));

function numberProperty(name: keyof typeof LIMITS): PropertyDefinition<Config, number | string> {
  const { min, max } = LIMITS[name];
  const check = name === 'redeliver' ? seconds(min, max) : wholeNumber(min, max);
  return {
    value: DEFAULTS[name],
    label: t(`label.${name}`),
    validate: validator(orDefault(check)),
  };
}

RED.nodes.registerType<Config>('device-cloud-work', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-work.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    datatype: { value: DEFAULTS.datatype },
    acknowledge: {
      value: DEFAULTS.acknowledge,
      label: t('label.acknowledge'),
      validate: validator(orDefault(oneOf('sent', 'ack'))),
    },
    inFlight: numberProperty('inFlight'),
    redeliver: numberProperty('redeliver'),
    attempts: numberProperty('attempts'),
  },
  label: function () {
    return labelOf(this.name, t('node.work'));
  },
  oneditprepare: function () {
    opened(this);
    onChange(['acknowledge'], () => show('#redeliver-row, #attempts-row', waitsForAck(this)));
    onChange(['app'], () => show('#no-cluster-note', isChosen() && !isClustered(this)));
  },
});
