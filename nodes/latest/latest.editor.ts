import { t } from '../common/editor/texts';
import { current, field, fieldValue, onChange, show } from '../common/editor/form';
import {
  appProperty,
  categoryDescription,
  chipidProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  type Named,
  prepareDevice,
  selectOnlyApp,
} from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { oneOf, orDefault, validator } from '../common/editor/fields';
import { DEFAULTS, type LatestConfig } from './latest.config';

type Config = LatestConfig & Named;
type Node = EditorNode<Config>;

/** The choice between one device and all is not saved: an empty `chipid` means all. */
const which = (): JQuery => $('#device-cloud-which');

/** A flow written by hand may leave the property out: that is not empty, and means the default. */
const isAll = (node: Node): boolean => node.chipid !== undefined && current(node, 'chipid') === '';

RED.nodes.registerType<Config>('device-cloud-latest', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-latest.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty<Config>((node) => !isAll(node)),
    chipidType: { value: DEFAULTS.chipidType },
    datatype: { value: DEFAULTS.datatype },
    missing: {
      value: DEFAULTS.missing,
      label: t('label.missing'),
      validate: validator(orDefault(oneOf('error', 'null', 'history'))),
    },
  },
  label: function () {
    const isOne = this.chipid !== '';
    return labelOf(this.name, t(isOne ? 'node.one' : 'node.all'), isOne ? fixedDevice(this) : '');
  },
  oneditprepare: function () {
    prepareDevice(this);
    which().val(isAll(this) ? 'all' : 'one');
    const adapt = (): void => {
      const one = fieldValue(which()) === 'one';
      show('#device-row, #missing-row', one);
      // Otherwise the node sends nothing.
      show('#explain-row', one && current(this, 'missing') === 'history');
      // An empty field would mean all devices again.
      if (one && field('chipid').typedInput('value') === '') {
        field('chipid').typedInput('type', DEFAULTS.chipidType);
        field('chipid').typedInput('value', DEFAULTS.chipid);
      }
    };
    onChange(['missing'], adapt);
    which().on('change', adapt);
  },
  oneditsave: function () {
    if (fieldValue(which()) === 'all') field('chipid').val('');
  },
});
