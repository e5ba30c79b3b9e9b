import { t } from '../common/editor/texts';
import { current, field, onChange, show } from '../common/editor/form';
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
import {
  dateType,
  DYNAMIC,
  nowType,
  oneOf,
  orDefault,
  typedInput,
  typedValidator,
  validator,
} from '../common/editor/fields';
import { DEFAULTS, type HistoryConfig } from './history.config';

type Config = HistoryConfig & Named;
type Node = EditorNode<Config>;

const syncs = (node: Node): boolean => current(node, 'operation') === 'sync';

/** A day typed by hand, `YYYYMMDD` or ISO text: the rest is for the run time to judge. */
function dateError(value: string): string | undefined {
  const day = /^(\d{4})(\d{2})(\d{2})$/.exec(value)?.slice(1).join('-') ?? value;
  const right = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(day) && !Number.isNaN(Date.parse(day));
  return right ? undefined : t('error.date');
}

RED.nodes.registerType<Config>('device-cloud-history', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-history.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty<Config>((node) => !syncs(node)),
    chipidType: { value: DEFAULTS.chipidType },
    operation: {
      value: DEFAULTS.operation,
      label: t('common.label.operation'),
      validate: validator(orDefault(oneOf('uploads', 'pushes', 'sync'))),
    },
    begin: {
      value: DEFAULTS.begin,
      label: t('label.begin'),
      validate: typedValidator<Config>('beginType', { str: dateError }, syncs),
    },
    beginType: { value: DEFAULTS.beginType },
    end: {
      value: DEFAULTS.end,
      label: t('label.end'),
      validate: typedValidator<Config>('endType', { str: dateError }, syncs),
    },
    endType: { value: DEFAULTS.endType },
    datatype: { value: DEFAULTS.datatype },
    split: { value: DEFAULTS.split },
    incremental: { value: DEFAULTS.incremental },
  },
  label: function () {
    const operation = this.operation ?? 'uploads';
    const device = operation === 'sync' ? '' : fixedDevice(this);
    return labelOf(this.name, t(`node.${operation}`), device);
  },
  oneditprepare: function () {
    prepareDevice(this);
    for (const end of ['begin', 'end']) {
      typedInput(end, ['msg', dateType(dateError), nowType(), ...DYNAMIC]);
    }
    onChange(['operation'], () => {
      show('#device-row', !syncs(this));
      show('.period-row', syncs(this));
    });
    onChange(['incremental'], () => {
      show('#context-note', field('incremental').is(':checked'));
    });
  },
});
