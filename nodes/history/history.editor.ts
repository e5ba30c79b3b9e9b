import { choice, dateType, flag, nowType, typed } from '../common/editor/fields';
import { current, opened } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type HistoryConfig } from './history.config';

type Config = HistoryConfig & shared.Named;
type Node = EditorNode<Config>;

const syncs = (node: Node): boolean => current(node, 'operation') === 'sync';

/** A day typed by hand, `YYYYMMDD` or ISO text: the rest is for the run time to judge. */
function dateError(value: string): string | undefined {
  const day = /^(\d{4})(\d{2})(\d{2})$/.exec(value)?.slice(1).join('-') ?? value;
  const right = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(day) && !Number.isNaN(Date.parse(day));
  return right ? undefined : t('error.date');
}

const dates = () => ['msg', dateType(dateError), nowType()];

RED.nodes.registerType<Config>('device-cloud-history', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-history.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    chipid: shared.chipid<Config>((node) => !syncs(node)),
    chipidType: shared.chipidType,
    operation: choice(DEFAULTS.operation, 'common.label.operation', CHOICES.operation),
    begin: typed<Config>(DEFAULTS.begin, 'label.begin', 'beginType', dates, syncs),
    beginType: { value: DEFAULTS.beginType },
    end: typed<Config>(DEFAULTS.end, 'label.end', 'endType', dates, syncs),
    endType: { value: DEFAULTS.endType },
    datatype: choice(DEFAULTS.datatype, 'common.label.datatype', CHOICES.datatype),
    split: flag(DEFAULTS.split, 'label.split'),
    incremental: flag(DEFAULTS.incremental, 'label.incremental'),
  },
  label: function () {
    const operation = this.operation ?? 'uploads';
    const device = operation === 'sync' ? '' : shared.fixedDevice(this);
    const text = operation === 'uploads' ? t('paletteLabel') : t(`node.${operation}`);
    return shared.labelOf(this.name, text, device);
  },
  oneditprepare: function () {
    opened(this);
  },
});
